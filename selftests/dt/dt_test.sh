#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The driver on a device tree (npu.dts): suppliers that come late, every property missing in turn, sleep,
# and what lies behind the addresses (dt_walk). Runs in the virtual board, see run.

here=$(dirname "$0")
npu=7f000000.npu
bus=/sys/bus/platform
debug=/sys/kernel/debug/rkmm_dttest
tests=32
n=0
failed=0

# check TEXT COMMAND...
check()
{
	n=$((n + 1))
	text=$1
	shift
	if "$@"; then
		echo "ok $n $text"
	else
		echo "not ok $n $text"
		dmesg | grep -v rk_iommu | tail -n 6 | sed 's/^/# /'
		failed=$((failed + 1))
	fi
}

bound()
{
	[ "$(basename "$(readlink -f $bus/devices/$npu/driver)")" = rkmm ]
}

unbound()
{
	[ ! -e $bus/devices/$npu/driver ]
}

# A deferred probe is tried again by a worker.
settle()
{
	i=0
	until bound; do
		i=$((i + 1))
		[ $i -gt 100 ] && return 1
		sleep 0.1
	done
}

# ...and is not on the list while it is.
deferred()
{
	i=0
	until grep -q $npu /sys/kernel/debug/devices_deferred; do
		i=$((i + 1))
		[ $i -gt 100 ] && return 1
		sleep 0.1
	done
	unbound
}

state()
{
	grep -qx "$1 $2" $debug/state && return 0
	sed 's/^/# /' $debug/state
	return 1
}

# on HZ
on()
{
	state npu0 1 && state npu1 1 && state npu2 1 && state rate "$1"
}

off()
{
	state npu0 0 && state npu1 0 && state npu2 0 && state rate 200000000
}

no_rule_broken()
{
	state rate_domain_off 0 && state off_not_idle 0
}

# What the driver enabled and did not give back stays behind.
supplies_off()
{
	! grep "7f0.0000.npu-" /sys/kernel/debug/regulator/regulator_summary | sed 's/^/# /' | grep .
}

clocks_off()
{
	awk '$1 ~ /^(clk_npu|aclk|hclk|pclk)$/ && $2 > 0 { print "# " $0; bad = 1 } END { exit bad }' \
		/sys/kernel/debug/clk/clk_summary
}

released()
{
	supplies_off && clocks_off
}

load()
{
	# what is looked at is what one operation needs, each buffer mapped by itself
	insmod "$here/rkmm.ko" timeout_floor_ms=300 warmup=off landing=off slabs=0 golden=N suspect=N "$@"
}

probe()
{
	echo $npu > $bus/drivers_probe
}

unbind()
{
	echo $npu > $bus/drivers/rkmm/unbind
}

# The IOMMU resumes before the second try, so the registers must be there.
test_wait_for_suppliers()
{
	insmod "$here/rkmm_dttest.ko" && echo power-controller > $bus/drivers/rkmm_dttest/unbind || return 1
	load && deferred || return 1
	insmod "$here/fixed.ko" && deferred || return 1
	echo power-controller > $bus/drivers/rkmm_dttest/bind && settle && on 1000000000
}

test_reload()
{
	for i in 1 2 3; do
		rmmod rkmm && unbound && off && released || return 1
		load "$@" && bound && on 1000000000 || return 1
	done
}

# Domains stay on between drivers, everything else does not.
test_rebind()
{
	for i in 1 2 3; do
		unbind && unbound && state rate 200000000 && clocks_off || return 1
		probe && bound && on 1000000000 || return 1
	done
}

# missing EXPECTED CHANGE: not bound, told why in one line, all given back; bound again after
missing()
{
	rmmod rkmm && dmesg -c > /dev/null && echo "$2" > $debug/node && load || return 1
	unbound || return 1
	if ! dmesg | grep -q "rkmm $npu: .*$1"; then
		echo "# no line with '$1'"
		return 1
	fi
	state rate 200000000 && clocks_off || return 1
	echo restore > $debug/node && probe && bound && on 1000000000
}

check_missing()
{
	text=$1
	shift
	check "without $text" missing "$@"
}

# optional HZ CHANGE [EXPECTED]: the device works without it
optional()
{
	rmmod rkmm && dmesg -c > /dev/null && echo "$2" > $debug/node && load || return 1
	bound && on "$1" || return 1
	if [ -n "$3" ] && ! dmesg | grep -q "rkmm $npu: .*$3"; then
		echo "# no line with '$3'"
		return 1
	fi
	rmmod rkmm && released && off && echo restore > $debug/node && load && bound && on 1000000000
}

# late DRIVER DEVICE: a supplier that is not there yet
late()
{
	rmmod rkmm && echo "$2" > "$bus/drivers/$1/unbind" && load || return 1
	deferred && clocks_off && state rate 200000000 || return 1
	echo "$2" > "$bus/drivers/$1/bind" && settle && on 1000000000
}

# Without an IOMMU the NPU could write anywhere.
test_no_iommu()
{
	dmesg -c > /dev/null
	echo 7f080000.npu > $bus/drivers_probe
	[ ! -e $bus/devices/7f080000.npu/driver ] && dmesg | grep -q "rkmm 7f080000.npu: .*no IOMMU"
}

# NPU GRF: margin 2 belongs to 0.85 V, in bits 4:2 of three registers
test_margin()
{
	for i in 0 4 8; do
		word=$(dd if=$debug/phys bs=4 count=1 skip=$(((0x7f041000 + i) / 4)) 2> /dev/null | hexdump -v -e '"%08x"')
		[ "$word" = 00000008 ] || { echo "# GRF $i: $word"; return 1; }
	done
}

test_sleep()
{
	for i in 1 2 3; do
		echo 1 > $debug/sleep && state rate 200000000 && clocks_off || return 1
		echo 0 > $debug/sleep && on 1000000000 || return 1
	done
}

echo "TAP version 13"
echo "1..$tests"
while read -r ko; do
	insmod "/lib/modules/$(uname -r)/$ko"
done < /etc/vboard/drm.modules

check "probed when the last supplier came" test_wait_for_suppliers
check "read margin" test_margin
check "reload" test_reload
check "unbind, bind" test_rebind
check "sleep" test_sleep

check_missing "the core clock" 'clock "clk_npu"' "spoil clock-names clk_npu"
check_missing "a bus clock" "clk .hclk1." "spoil clock-names hclk1"
check_missing "clock names" 'clock "clk_npu"' "hide clock-names"
check_missing "a clock" "clk .pclk." "cut clocks 7"
check_missing "resets" 'reset "srst_a0"' "hide resets"
check_missing "a reset" 'reset "srst_h2"' "spoil reset-names srst_h2"
check_missing "an interrupt name" "npu1_irq" "spoil interrupt-names npu1_irq"
check_missing "interrupts" "npu0_irq" "hide interrupts"
check_missing "a register window" "register window 2" "regs 2"
check_missing "registers" "register window 0" "regs 0"
check_missing "power domains" "no power-domains" "hide power-domains"
check_missing "a power domain" 'power domain "npu2"' "spoil power-domain-names npu2"
check_missing "power domain names" 'power domain "npu0"' "hide power-domain-names"
check "without the IOMMU" test_no_iommu

check "without rknpu-supply: slow" optional 200000000 "hide rknpu-supply" "no rknpu-supply"
check "without mem-supply: slow" optional 200000000 "hide mem-supply" "no usable OPP table"
check "without an OPP table: slow" optional 200000000 "hide operating-points-v2"
check "without cooling cells" optional 1000000000 "hide #cooling-cells"

check "late supply" late reg-fixed-voltage vdd-npu
check "late memory supply" late reg-fixed-voltage vdd-npu-mem
check "late resets" late simple-reset 7f040000.reset-controller

check "reload after all that" test_reload isolation=strict
"$here/dt_walk" > /tmp/walk.tap 2>&1
walked=$?
sed 's/^/# /' /tmp/walk.tap
check "registers, programs, pages (dt_walk)" [ $walked = 0 ]
check "no rule broken" no_rule_broken
check "unload" rmmod rkmm
check "all off" off
check "nothing left enabled" released
exit $((failed > 0))
