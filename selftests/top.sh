#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# rkmm-top while jobs run: each client once, as root and as somebody else, with what others count.

# shellcheck source=driver.inc
. "$(dirname "$0")/driver.inc"
tmp=/tmp/top.$$
npu=$bus/devices/rkmm-npu/rkmm

explain()
{
	sed 's/^/# /' "$tmp.json"
}

# number KEY: of the look, behind the last "{" only when it is a client's
number()
{
	sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$tmp.json"
}

look()
{
	rkmm-top --once --json --delay 0.5 > "$tmp.json"
}

# a client that is always busy, in a process named "busy"
busy()
{
	cp /usr/bin/rkmm-matmul "$tmp.busy"
	rkmm-matmul --random 60x1024 -o "$tmp.a" && rkmm-matmul --random 1024x200 -o "$tmp.b" || exit 1
	LD_LIBRARY_PATH=/usr/lib "$tmp.busy" "$tmp.a" "$tmp.b" --precision int8 --repeat 1000000 \
		> /dev/null 2>&1 &
	pid=$!
	was=$(cat $npu/jobs)
	until [ "$(cat $npu/jobs)" -gt $((was + 2)) ]; do
		kill -0 $pid || exit 1
		usleep 10000
	done
}

idle_device()
{
	look && [ "$(number open_files)" = 0 ] && grep -q '"clients": \[\]' "$tmp.json" &&
		[ "$(grep -c '"state": "idle".*"state": "idle".*"state": "idle"' "$tmp.json")" = 1 ]
}

one_client()
{
	was=$(cat $npu/jobs)
	look && [ "$(number open_files)" = 1 ] && [ "$(number pid)" = "$pid" ] &&
		grep -q "\"command\": \"${tmp##*/}.busy\"" "$tmp.json" &&
		[ "$(number npu_permille)" -gt 0 ] && [ "$(number npu_ns)" -gt 0 ] &&
		[ "$(sed 's/.*"clients"//' "$tmp.json" | grep -o '"id"' | wc -l)" = 1 ] &&
		[ "$(sed -n 's/.*"open_files": 1, "jobs": \([0-9]*\),.*/\1/p' "$tmp.json")" -gt "$was" ] &&
		grep -q '"mode": "int8"' "$tmp.json" && grep -q '"soft": true' "$tmp.json"
}

as_nobody()
{
	start-stop-daemon -S -q -c nobody -x /usr/bin/rkmm-top -- --once "$@"
}

# what nobody in particular sees: the totals, and that there is one more
others()
{
	as_nobody --json --delay 0.1 > "$tmp.json" &&
		[ "$(number open_files)" = 1 ] && grep -q '"clients": \[\]' "$tmp.json" &&
		as_nobody --delay 0.1 > "$tmp.text" &&
		grep -q ' 1 clients of others$' "$tmp.text"
}

text()
{
	rkmm-top --once --delay 0.1 > "$tmp.text" && grep -q "^core 0 .*%" "$tmp.text" &&
		grep -q " $pid .*${tmp##*/}.busy$" "$tmp.text"
}

[ "$(id -u)" = 0 ] || skip "not root"
[ -d $npu ] || skip "no rkmm device"
grep -qs '^nobody:' /etc/passwd || echo 'nobody:x:65534:65534::/:/bin/sh' >> /etc/passwd
echo "TAP version 13"
echo "1..5"
check "nobody is there" idle_device
busy
check "a busy client" one_client
check "a plain look" text
check "another user" others
kill $pid
wait $pid 2> /dev/null
check "it is gone" idle_device
rm -f "$tmp" "$tmp".*
exit $((failed != 0))
