#!/usr/bin/env bash
# Installs Debian packages whose programs or files are missing.
# usage: tools/deps.sh PROGRAM_OR_FILE:PACKAGE…
set -euo pipefail
missing=()
for pair in "$@"; do
	wanted=${pair%%:*}
	[[ $wanted == /* && -e $wanted ]] || command -v "$wanted" >/dev/null || missing+=("${pair#*:}")
done
[ "${#missing[@]}" -gt 0 ] || exit 0
if ! command -v apt-get >/dev/null; then
	echo "these Debian packages are needed, which this system has under some name of its own: ${missing[*]}" >&2
	exit 1
fi
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
echo "installing ${missing[*]} (apt)"
# A list of packages that is not there yet is fetched first.
"${as_root[@]}" apt-get install -y --no-install-recommends "${missing[@]}" >/dev/null 2>&1 || {
	"${as_root[@]}" apt-get update >/dev/null
	"${as_root[@]}" apt-get install -y --no-install-recommends "${missing[@]}" >/dev/null
}
