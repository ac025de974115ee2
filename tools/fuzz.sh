#!/usr/bin/env bash
# Runs every fuzzer of the repository for a short while, one after the other.
# usage: tools/fuzz.sh [TIME_PER_FUZZER]
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-20s}
count=0
while IFS=: read -r file name; do
	echo "== $name in $(dirname "$file") for $time"
	go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" "./$(dirname "$file")"
	count=$((count + 1))
done < <(grep -rhoHE '^func Fuzz[A-Za-z0-9_]*' --include='*_test.go' . | sed -E 's/^\.\///; s/:func /:/' | sort)
echo "$count fuzzers ran"
test "$count" -gt 0
