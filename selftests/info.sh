#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# rkmm-info on a running machine: a driver at work, a node that is missing or forbidden, no driver.

# shellcheck source=driver.inc
. "$(dirname "$0")/driver.inc"
tmp=/tmp/info.$$

explain()
{
	sed 's/^/# /' "$tmp"
}

# problems STATUS ID...: exactly these, in JSON; the text of both is kept for explain
problems()
{
	want=$1
	shift
	"$@" > "$tmp"
	rc=$?
	sed -n 's/^  {"id": "\([^"]*\)".*/\1/p' "$tmp" > "$tmp.ids"
	[ $rc = "$want" ]
}

ids()
{
	[ "$(tr '\n' ' ' < "$tmp.ids")" = "$1" ]
}

healthy()
{
	problems 0 rkmm-info --json && ids "" && grep -q '"driver": "rkmm"' "$tmp" &&
		grep -q '"chip": "rk3588"' "$tmp" && grep -q '"cores": 3' "$tmp" &&
		grep -q '"core_mask": 7' "$tmp" && grep -q '"isolation": "shared"' "$tmp" &&
		grep -q "\"clock_hz\": $(cat $bus/devices/rkmm-npu/rkmm/clock_hz)," "$tmp"
}

as_nobody()
{
	start-stop-daemon -S -q -c nobody -x /usr/bin/rkmm-info -- "$@"
}

text()
{
	rkmm-info > "$tmp" && grep -q '^NPU  *rkmm-npu (software)$' "$tmp" &&
		grep -q '^states  *idle idle idle$' "$tmp" && grep -q '^No problem found' "$tmp"
}

allowed()
{
	chmod 666 $node && problems 0 as_nobody --json && ids "" && grep -q '"chip": "rk3588"' "$tmp"
}

forbidden()
{
	chmod 600 $node && problems 2 as_nobody --json && ids "no-udev-rule " &&
		grep -q '"clock_hz": [1-9]' "$tmp"
}

not_in_group()
{
	chgrp 44 $node && chmod 660 $node && problems 2 as_nobody --json && ids "no-permission " &&
		grep -q '"fix": "sudo usermod -aG 44 nobody"' "$tmp"
}

no_node()
{
	mv $node $node.away && problems 2 rkmm-info --json && ids "no-node "
	ret=$?
	mv $node.away $node
	return $ret
}

strict()
{
	reload isolation=strict derived=on && problems 0 rkmm-info --json &&
		grep -q '"isolation": "strict"' "$tmp" && grep -q '"gates": "derived=on isolation=strict"' "$tmp"
}

not_bound()
{
	echo rkmm-npu > $bus/drivers/rkmm/unbind && problems 2 rkmm-info --json && ids "not-bound "
}

not_loaded()
{
	rmmod rkmm && problems 2 rkmm-info --json && ids "not-loaded "
}

# the command that it names does what it says
mended()
{
	sh -c "$(rkmm-info -q | sed -n 's/^    //p' | head -n 1)" 2> /dev/null || load || return 1
	i=0
	until problems 0 rkmm-info --json; do
		i=$((i + 1))
		[ $i -gt 100 ] && return 1
		sleep 0.1
	done
	ids ""
}

[ "$(id -u)" = 0 ] || skip "not root"
[ -d $bus/devices/rkmm-npu/rkmm ] || skip "not the software NPU"
grep -qs '^nobody:' /etc/passwd || echo 'nobody:x:65534:65534::/:/bin/sh' >> /etc/passwd
for node in /dev/dri/renderD*; do
	[ ! -d "/sys/class/drm/${node##*/}/device/../rkmm" ] || break
done
echo "TAP version 13"
echo "1..10"
check "all is well" healthy
check "for people" text
check "others may use it" allowed
check "a node for root alone" forbidden
check "not in the group" not_in_group
check "a node that is gone" no_node
check "isolation and gates" strict
check "unbound" not_bound
check "not loaded" not_loaded
check "mended" mended
rm -f "$tmp" "$tmp".*
exit $((failed != 0))
