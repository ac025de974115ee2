#!/usr/bin/env bash
# Runs every fuzzer of the repository for a short while, one after the other.
# usage: tools/fuzz.sh [TIME_PER_FUZZER [TIME_FOR_THOSE_THAT_READ_PAGES]]
set -euo pipefail
cd "$(dirname "$0")/.."
usual=${1:-20s}
longer=${2:-$usual}
# What a page passes through on its way: character set, content encoding, feeds,
# JSON, data in scripts, the normal form, the Markdown writer and the windows.
pages="internal/extract:FuzzDecode internal/fetch:FuzzDecode internal/fetch:FuzzPacked internal/extract:FuzzFeed
	internal/jq:FuzzReader internal/extract:FuzzLinkedData internal/extract:FuzzEmbedded internal/normalize:FuzzPage
	internal/render:FuzzContent internal/render:FuzzWindow"
count=0
long=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

fuzz() { go test -run '^$' -fuzz "^$2\$" -fuzztime "$time" -fuzzminimizetime 2s "./$(dirname "$1")" 2>&1 | tee "$log"; }

while IFS=: read -r file name; do
	time=$usual
	for page in $pages; do
		if [ "$page" = "$(dirname "$file"):$name" ]; then time=$longer long=$((long + 1)); fi
	done
	echo "== $name in $(dirname "$file") for $time"
	if ! fuzz "$file" "$name"; then
		# A busy machine can make the fuzzing engine itself run out of time at the
		# end, with nothing found: that is tried once more. A finding is not.
		if grep -q 'Failing input written' "$log" || ! grep -q 'context deadline exceeded' "$log"; then
			exit 1
		fi
		fuzz "$file" "$name"
	fi
	count=$((count + 1))
done < <(grep -rhoHE '^func Fuzz[A-Za-z0-9_]*' --include='*_test.go' . | sed -E 's/^\.\///; s/:func /:/' | sort)
echo "$count fuzzers ran, $long of them for $longer"
test "$count" -gt 0
test "$long" -eq "$(wc -w <<<"$pages")" # a name in the list that is no fuzzer's is a mistake
