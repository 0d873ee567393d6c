#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What every installed tool has: --help that fits a screen, a man page that knows its options, and
# completion of them.

set -u
cd "$(dirname "$0")/../.." || exit 1
mapfile -t tools < <(make -s --no-print-directory print-tools)
for t in "${tools[@]}"; do
	[ -x "build/host/bin/$t" ] || [ -x "tools/${t#rkmm-}/$t" ] || { make --no-print-directory host || exit 1; break; }
done
PATH=$PWD/build/host/bin:$PWD/tools/switch:$PWD/tools/bringup:$PATH
# shellcheck source=tools/completion/rkmm
. tools/completion/rkmm
n=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

ok() # TEXT, status of the command before
{
	local rc=$?

	n=$((n + 1))
	if [ $rc = 0 ]; then
		echo "ok $n $1"
	else
		echo "not ok $n $1"
		sed 's/^/# /' "$work/why"
	fi
	: > "$work/why"
}

# what TAB behind these words offers, a line each
offers()
{
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_rkmm "$1"
	printf '%s\n' "${COMPREPLY[@]}"
}

# options that a text begins a line with, or names in brackets
options()
{
	sed -nE 's/^ *(-[a-zA-Z0-9], )?(--[a-z0-9-]+).*/\2/p; s/.*\[(--[a-z-]+).*/\1/p' | sort -u
}

completed() # TOOL [COMMAND]
{
	"$@" --help 2> /dev/null < /dev/null | options > "$work/options"
	offers "$@" - | sort -u > "$work/offered"
	# the text of rkmm-regcmd is in those of its commands
	{ [ -s "$work/options" ] || [ "$*" = rkmm-regcmd ]; } && comm -23 "$work/options" "$work/offered" > "$work/why" && [ ! -s "$work/why" ]
}

: > "$work/why"
[ ${#tools[@]} -ge 10 ]
ok "there are tools"
for t in "${tools[@]}"; do
	"$t" --help > "$work/help" 2> "$work/why" < /dev/null && [ ! -s "$work/why" ] &&
		[ "$(wc -l < "$work/help")" -le 24 ] && ! grep -nE '.{97}' "$work/help" > "$work/why"
	ok "$t: --help fits a screen"

	page=$(ls Documentation/man/"$t".[18])
	[ -f "$page" ] && options < "$work/help" | while read -r o; do
		sed 's/\\-/-/g; s/\\f[A-Z]//g' "$page" | grep -qE -- "(^|[^a-z-])$o([^a-z-]|\$)" || echo "$o"
	done > "$work/why" && [ ! -s "$work/why" ]
	ok "$t: its man page has all options of --help"

	completed "$t"
	ok "$t: completion has them"
	complete -p "$t" 2> /dev/null | grep -q -- '-F _rkmm'
	ok "$t: completion is asked"
done
for c in $(_rkmm_commands rkmm-regcmd); do
	[ "$c" = ops ] || [ "$c" = diff ] || { completed rkmm-regcmd "$c"; ok "rkmm-regcmd $c"; }
done
[ "$(offers rkmm-matmul --ver | tr '\n' ' ')" = "--verify --version " ]
ok "what was begun is ended"
[ "$(offers rkmm-matmul a.npy --precision int | tr '\n' ' ')" = "int8 int4 " ]
ok "values"
[ "$(offers rkmm-switch "" | head -n 3 | tr '\n' ' ')" = "status rkmm vendor " ]
ok "commands"
touch "$work/a.npy" && [ "$(offers rkmm-weights pack "$work/a")" = "$work/a.npy" ]
ok "files"
mkdir "$work/dir" && [ "$(offers rkmm-info --root "$work/")" = "$work/dir" ]
ok "folders"
