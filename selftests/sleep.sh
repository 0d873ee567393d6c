#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The system sleeps while jobs run and wait, and processors go while they may have the NPU's
# interrupts: every job ends, every result is right. Sleep goes as far as the devices
# (/sys/power/pm_test=platform), their power included.

# shellcheck source=driver.inc
. "$(dirname "$0")/driver.inc"
tmp=/tmp/sleep.$$
npu=$bus/devices/rkmm-npu/rkmm
debug=/sys/kernel/debug/rkmm_soft

# three clients, each with results that are compared; their status comes with finish
begin()
{
	pids=
	rm -f "$tmp".stop
	for p in int8:41 int4:33 fp16:17; do
		(
			rkmm-matmul --random "${p#*:}x530" --seed "${p#*:}" -o "$tmp.$p.a" &&
				rkmm-matmul --random 530x70 --seed 3 -o "$tmp.$p.b" || exit 1
			while [ ! -e "$tmp.stop" ]; do
				rkmm-matmul "$tmp.$p.a" "$tmp.$p.b" --precision "${p%:*}" --repeat 20 \
					--verify > "$tmp.$p.out" 2>&1 || exit 1
			done
		) &
		pids="$pids $!"
	done
	until [ "$(cat $npu/queued)" -ge 2 ]; do
		usleep 5000
	done
}

finish()
{
	bad=0
	: > "$tmp.stop"
	for p in $pids; do
		wait "$p" || bad=$((bad + 1))
	done
	[ $bad = 0 ] || sed 's/^/# /' "$tmp".*.out
	[ $bad = 0 ] && [ "$(cat $npu/queued)" = 0 ]
}

no_errors()
{
	[ "$(cat $debug/errors/total)" = 0 ] && return 0
	sed -n '/ 0$/!s/^/# /p' $debug/errors/all
	return 1
}

# value KEY FILE
value()
{
	sed -n "s/^$1 //p" "$2"
}

sleeps()
{
	begin
	for i in 1 2 3 4; do
		cycles=$(value power_cycles $debug/device/power)
		jobs=$(cat $npu/jobs)
		until [ "$(cat $npu/queued)" -ge 2 ]; do
			usleep 1000
		done
		echo mem > /sys/power/state || { finish; return 1; }
		# it was off, and goes on
		[ "$(value power_cycles $debug/device/power)" -gt "$cycles" ] || { finish; return 1; }
		until [ "$(cat $npu/jobs)" -gt $((jobs + 5)) ]; do
			usleep 5000
		done
	done
	finish
}

processors()
{
	begin
	lost=$(cat $npu/lost_irqs)
	for i in 1 2 3 4 5 6; do
		for c in /sys/devices/system/cpu/cpu[0-9]*/online; do
			jobs=$(cat $npu/jobs)
			# the last one, or the first, may have to stay
			echo 0 2> /dev/null > "$c" || continue
			until [ "$(cat $npu/jobs)" -gt $((jobs + 2)) ]; do
				usleep 5000
			done
			echo 1 > "$c"
			went=1
		done
	done
	echo "# $(($(cat $npu/lost_irqs) - lost)) interrupts late"
	finish && [ "$went" = 1 ]
}

[ "$(id -u)" = 0 ] || skip "not root"
[ -d $debug ] || skip "no software NPU"
grep -qs platform /sys/power/pm_test || skip "no pm_test"
grep -qw mem /sys/power/state || skip "no mem in /sys/power/state"
[ "$(cat $debug/errors/total)" = 0 ] || echo 1 > $debug/errors/clear
echo "TAP version 13"
echo "1..3"
echo platform > /sys/power/pm_test
echo 1 > /sys/module/suspend/parameters/pm_test_delay 2> /dev/null
check "sleep with jobs queued" sleeps
echo none > /sys/power/pm_test
check "processors go and come" processors
check "no rule broken" no_errors
rm -f "$tmp".*
exit $((failed != 0))
