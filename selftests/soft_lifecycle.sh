#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The software NPU comes and goes: load, unload, unbind, bind, with and without a driver, with an
# open file. CYCLES sets the number of load/unload cycles. Leaves the modules as they were.

# shellcheck source=driver.inc
. "$(dirname "$0")/driver.inc"
debug=/sys/kernel/debug/rkmm_soft
cycles=${CYCLES:-20}
tests=9

loaded()
{
	[ -d "/sys/module/$1" ]
}

load()
{
	if [ -e "$modules/$1.ko" ]; then
		insmod "$modules/$1.ko" 2> /dev/null
	else
		modprobe "$1" 2> /dev/null
	fi
}

# A driver may bind in a thread of its own: until PATH is there, or is not.
wait_for()
{
	i=0
	until test "$@"; do
		i=$((i + 1))
		if [ $i -gt 300 ]; then
			echo "# gave up waiting for: test $*"
			return 1
		fi
		sleep 0.1
	done
}

load_both()
{
	load rkmm_soft || return 1
	[ $driver = 1 ] || return 0
	load rkmm && wait_for -e $bus/devices/rkmm-npu/driver
}

unload_both()
{
	if loaded rkmm; then
		rmmod rkmm || return 1
	fi
	if loaded rkmm_soft; then
		rmmod rkmm_soft || return 1
	fi
}

no_errors()
{
	[ "$(cat $debug/errors/total)" = 0 ] && return 0
	sed -n '/ 0$/!s/^/# /p' $debug/errors/all
	return 1
}

nothing_mapped()
{
	grep -qx 'mapped_pages 0' $debug/view/usage
}

# --- the tests ------------------------------------------------------------------------

test_load()
{
	load_both && [ -e $bus/devices/rkmm-npu ] && [ "$(cat /sys/module/rkmm_soft/taint)" != "" ]
}

test_twice()
{
	! load rkmm_soft && no_errors
}

# The module is in use while a driver is bound.
test_pinned()
{
	! rmmod rkmm_soft 2> /dev/null && loaded rkmm_soft && no_errors
}

test_rebind_driver()
{
	for i in 1 2 3; do
		echo rkmm-npu > $bus/drivers/rkmm/unbind || return 1
		wait_for ! -e $bus/devices/rkmm-npu/driver || return 1
		grep -qx 'powered 0' $debug/device/power || return 1
		grep -qx 'clk_npu 200000000' $debug/device/power || return 1
		nothing_mapped || return 1
		echo rkmm-npu > $bus/drivers/rkmm/bind || return 1
		wait_for -e $bus/devices/rkmm-npu/driver || return 1
	done
	no_errors
}

test_rebind_device()
{
	for i in 1 2 3; do
		echo rkmm-soft > $bus/drivers/rkmm-soft/unbind || return 1
		[ ! -e $bus/devices/rkmm-npu ] || return 1
		echo rkmm-soft > $bus/drivers/rkmm-soft/bind || return 1
		[ $driver = 0 ] || wait_for -e $bus/devices/rkmm-npu/driver || return 1
	done
	no_errors
}

# render_node: that of rkmm, by the driver's device
render_node()
{
	for d in /sys/class/drm/renderD*; do
		case $(readlink -f "$d/device") in
		*/rkmm-npu/rkmm-dma*)
			echo "/dev/dri/${d##*/}"
			return 0
			;;
		esac
	done
	return 1
}

# The device goes while a file is open; the file is closed afterwards.
test_open_file()
{
	node=$(render_node) || return 1
	exec 9<> "$node" || return 1
	echo rkmm-soft > $bus/drivers/rkmm-soft/unbind || return 1
	[ ! -e $bus/devices/rkmm-npu ] || return 1
	exec 9>&-
	nothing_mapped && no_errors || return 1
	echo rkmm-soft > $bus/drivers/rkmm-soft/bind || return 1
	wait_for -e $bus/devices/rkmm-npu/driver && no_errors
}

# With the device unbound the module goes although a driver is there.
test_unload_unbound()
{
	echo rkmm-soft > $bus/drivers/rkmm-soft/unbind || return 1
	rmmod rkmm_soft && unload_both && load_both && no_errors
}

test_cycles()
{
	c=0
	while [ $c -lt "$cycles" ]; do
		unload_both && load_both && no_errors || return 1
		c=$((c + 1))
	done
	unload_both || return 1
	# without a driver too
	c=0
	while [ $c -lt "$cycles" ]; do
		load rkmm_soft && no_errors && rmmod rkmm_soft || return 1
		c=$((c + 1))
	done
	[ ! -e $debug ] && [ ! -e $bus/devices/rkmm-soft ]
}

test_log()
{
	! dmesg | sed "1,/soft_lifecycle $$\$/d" | grep -E \
		'BUG:|WARNING:|KASAN|UBSAN|possible recursive|inconsistent lock|general protection|Oops'
}

# --------------------------------------------------------------------------------------

[ "$(id -u)" = 0 ] || skip "must be root"
loaded rkmm_soft || [ -e "$modules/rkmm_soft.ko" ] || modprobe -n rkmm_soft 2> /dev/null ||
	skip "no rkmm_soft.ko"
had_soft=0
had_driver=0
loaded rkmm_soft && had_soft=1
loaded rkmm && had_driver=1
driver=0
if [ $had_driver = 1 ] || [ -e "$modules/rkmm.ko" ]; then
	driver=1
fi
[ -d /sys/kernel/debug/bdi ] || mount -t debugfs debugfs /sys/kernel/debug 2> /dev/null
[ -d /sys/kernel/debug ] || skip "no debugfs"
if ! unload_both 2> /dev/null; then
	[ $had_driver = 0 ] || load_both
	skip "the modules are in use"
fi
if ! load rkmm_soft; then
	skip "rkmm_soft.ko does not load here (another IOMMU driver?)"
fi
rmmod rkmm_soft
echo "soft_lifecycle $$" > /dev/kmsg

echo "TAP version 13"
echo "1..$tests"
check "load" test_load
check "a second load is refused" test_twice
if [ $driver = 1 ]; then
	check "the module stays while a driver is bound" test_pinned
	check "unbind and bind the driver" test_rebind_driver
	check "unbind and bind the device" test_rebind_device
	check "unbind the device under an open file" test_open_file
	check "unload with the device unbound" test_unload_unbound
else
	for t in pinned rebind_driver open_file unload_unbound; do
		n=$((n + 1))
		echo "ok $n # SKIP $t: no rkmm.ko"
	done
	check "unbind and bind the device" test_rebind_device
fi
check "$cycles load and unload cycles" test_cycles
check "no kernel report" test_log

[ $had_soft = 0 ] || load rkmm_soft
[ $had_driver = 0 ] || load rkmm
echo "# Totals: pass:$((n - failed)) fail:$failed xfail:0 xpass:0 skip:0 error:0"
[ $failed = 0 ]
