#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Rates and power of the NPU as the software NPU sees them: rated point after probe, clock_mhz,
# cooling, parked before power goes. Every rule broken on the way is an error counted by rkmm_soft.

# shellcheck source=driver.inc
. "$(dirname "$0")/driver.inc"
debug=/sys/kernel/debug/rkmm_soft
tmp=/tmp/power.$$
tests=11

# soft FIELD VALUE: what the software NPU says of its power
soft()
{
	grep -qx "$1 $2" $debug/device/power && return 0
	echo "# expected $1 $2:"
	sed 's/^/#   /' $debug/device/power
	return 1
}

no_errors()
{
	[ "$(cat $debug/errors/total)" = 0 ] && return 0
	sed -n '/ 0$/!s/^/# /p' $debug/errors/all
	return 1
}

# The probe line tells the clock that really runs.
told()
{
	dmesg | grep 'rkmm rkmm-npu: .* cores at ' | tail -n 1 | grep -q " at $1 MHz" && return 0
	echo "# the probe line does not say $1 MHz"
	return 1
}

# A product of random matrices with odd dimensions, checked by the CPU.
job()
{
	rkmm-matmul "$tmp.a.npy" "$tmp.b.npy" --verify > "$tmp.out" 2>&1 && return 0
	sed 's/^/# /' "$tmp.out"
	return 1
}

runs_at()
{
	soft powered 1 && soft clk_npu "${1}000000" && told "$1" && job && no_errors
}

parked()
{
	soft powered 0 && soft clk_npu 200000000 && no_errors
}

test_rated()
{
	reload && runs_at 1000
}

test_unload()
{
	rmmod rkmm && parked && load && runs_at 1000
}

test_unbind()
{
	for i in 1 2 3; do
		echo rkmm-npu > $bus/drivers/rkmm/unbind || return 1
		parked || return 1
		echo rkmm-npu > $bus/drivers/rkmm/bind || return 1
	done
	runs_at 1000
}

# clock_mhz MHZ EXPECTED
test_clock_mhz()
{
	reload "clock_mhz=$1" && runs_at "$2"
}

find_cooling()
{
	for c in /sys/class/thermal/cooling_device*; do
		if [ "$(cat "$c/type" 2> /dev/null)" = rkmm ]; then
			echo "$c"
			return
		fi
	done
}

# State by state down from the rated point to the lowest, then back at once.
test_cooling()
{
	c=$(find_cooling)
	[ "$(cat "$c/max_state")" = 7 ] || return 1
	state=0
	for mhz in 1000 900 800 700 600 500 400 300; do
		echo $state > "$c/cur_state" || return 1
		[ "$(cat "$c/cur_state")" = $state ] || return 1
		soft clk_npu ${mhz}000000 || return 1
		state=$((state + 1))
	done
	job || return 1
	! echo 8 2> /dev/null > "$c/cur_state" || return 1
	echo 0 > "$c/cur_state" && soft clk_npu 1000000000 && job && no_errors
}

# The ceiling goes with the driver: it comes back at the rated point, not above clock_mhz.
test_cooling_rebind()
{
	echo 5 > "$(find_cooling)/cur_state" || return 1
	reload clock_mhz=700 || return 1
	c=$(find_cooling)
	[ "$(cat "$c/max_state")" = 4 ] && [ "$(cat "$c/cur_state")" = 0 ] || return 1
	runs_at 700 || return 1
	echo 1 > "$c/cur_state" && soft clk_npu 600000000 && no_errors
}

# Rates change while jobs run.
test_cooling_busy()
{
	reload || return 1
	c=$(find_cooling)
	( for i in 1 2 3 4 5 6; do job || exit 1; done ) &
	worker=$!
	for state in 1 7 3 0 6 2 5 4 0 7 0; do
		echo $state > "$c/cur_state" || return 1
		usleep 20000 2> /dev/null || sleep 0.02
	done
	wait $worker && soft clk_npu 1000000000 && no_errors
}

[ -d $debug ] || skip "rkmm_soft is not loaded, or debugfs is not mounted"
[ -d /sys/module/rkmm ] || skip "rkmm is not loaded"
command -v rkmm-matmul > /dev/null || skip "rkmm-matmul is not in PATH"
[ "$(cat $debug/errors/total)" = 0 ] || skip "there are errors from before: $(cat $debug/errors/total)"

trap 'rm -f "$tmp".*' EXIT
rkmm-matmul --random 33x70 --dtype int8 --seed 5 -o "$tmp.a.npy" &&
	rkmm-matmul --random 70x45 --dtype int8 --seed 6 -o "$tmp.b.npy" || exit 1

echo "TAP version 13"
echo "1..$tests"
check "rated point after probe" test_rated
check "parked and off after unload" test_unload
check "parked and off after unbind" test_unbind
check "clock_mhz of a point" test_clock_mhz 800 800
check "clock_mhz between points" test_clock_mhz 799 700
check "clock_mhz above all points" test_clock_mhz 4000000000 1000
check "clock_mhz below all points" test_clock_mhz 1 200
if [ -n "$(reload && find_cooling)" ]; then
	check "cooling states" test_cooling
	check "cooling state does not outlive the driver" test_cooling_rebind
	check "cooling while jobs run" test_cooling_busy
else
	for text in "cooling states" "cooling state does not outlive the driver" "cooling while jobs run"; do
		n=$((n + 1))
		echo "ok $n $text # SKIP kernel without thermal"
	done
fi
check "no rule broken" no_errors
exit $((failed > 0))
