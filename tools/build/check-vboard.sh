#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What tools/vboard promises, as TAP.

set -u
cd "$(dirname "$0")/../.." || exit 1
export VBOARD_NO_BUILD=1
tmp=$(mktemp -d build/vboard/test.XXXXXX)
trap 'rm -rf "$tmp"' EXIT
n=0

# expect NAME STATUS OPTION... : runs the board; output goes to $tmp/out and $tmp/err
expect()
{
	local name=$1 want=$2 rc

	shift 2
	tools/vboard "$@" > "$tmp/out" 2> "$tmp/err" < /dev/null
	rc=$?
	result "$name" "[ $rc = $want ]"
}

result()
{
	n=$((n + 1))
	if eval "$2"; then
		echo "ok $n $1"
	else
		echo "not ok $n $1: $2"
		tail -n 20 "$tmp/out" "$tmp/err" | sed 's/^/# /'
	fi
}

echo "TAP version 13"
# words are the board's to expand
# shellcheck disable=SC2016
{
	expect "status and arguments" 5 run --no-load -- sh -c 'printf "<%s>\n" "$@"; echo no >&2; exit 5' \
		sh "a b" "it's" '$x' ''
	result "standard output" '[ "$(cat "$tmp/out")" = "$(printf "<%s>\n" "a b" "it'"'"'s" "\$x" "")" ]'
	result "standard error" '[ "$(cat "$tmp/err")" = no ]'
	expect "no such command" 127 run --no-load -- nosuchcommand
}
mkdir "$tmp/share"
head -c 1000000 /dev/urandom > "$tmp/share/data"
expect "share" 0 run --no-load --share "$tmp/share" -- sh -c 'cat /share/data; cp /share/data /share/back'
result "binary output" 'cmp "$tmp/out" "$tmp/share/data"'
result "file from the board" 'cmp "$tmp/share/back" "$tmp/share/data"'
expect "hang" 124 run --no-load --timeout 15 -- sleep 1000
expect "kernel report" 123 run --no-load -- sh -c 'echo "BUG: made up" > /dev/kmsg'
result "its text is shown" 'grep -q "BUG: made up" "$tmp/err"'
expect "panic" 125 run --no-load -- sh -c 'echo c > /proc/sysrq-trigger'
expect "no such memory" 125 run --no-load -m nonsense -- true
tick='cat /proc/uptime; head -c 300000 /dev/zero | md5sum; cat /proc/uptime'
expect "instruction counted" 0 run --no-load --icount --log "$tmp/log1" -- sh -c "$tick"
cp "$tmp/out" "$tmp/out1"
expect "instruction counted, again" 0 run --no-load --icount --log "$tmp/log2" -- sh -c "$tick"
result "same times" 'cmp "$tmp/out1" "$tmp/out" && cmp "$tmp/log1" "$tmp/log2"'
expect "modules loaded" 0 run -- sh -c 'cut -d" " -f1 /proc/modules'
result "both" 'grep -qx rkmm "$tmp/out" && grep -qx rkmm_soft "$tmp/out"'
echo "1..$n"
