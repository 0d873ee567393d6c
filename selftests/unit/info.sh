#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rkmm-info on sample trees, written from the kernel's documentation of sysfs: a healthy board, and one
# for each thing that can be wrong: that thing is named, with its command and status, and nothing else.

set -u
cd "$(dirname "$0")/../.." || exit 1
tool=$PWD/build/host/bin/rkmm-info
[ -x "$tool" ] || make --no-print-directory host || exit 1
tools/build/deb.sh need python3 || exit 1
n=0
work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
npu=fdab0000.npu

ok() # TEXT, status of the command before
{
	local rc=$?

	n=$((n + 1))
	if [ $rc = 0 ]; then
		echo "ok $n $1"
	else
		echo "not ok $n $1"
		tail -n 40 "$work/out" "$work/json" | sed 's/^/# /'
	fi
}

put() # FILE TEXT
{
	mkdir -p "$(dirname "$root/$1")"
	printf '%s\n' "$2" > "$root/$1"
}

driver() # NAME: it is bound
{
	rm -f "$dev/driver"
	[ -z "$1" ] || ln -s "../../../bus/platform/drivers/$1" "$dev/driver"
}

# a board with the vendor's kernel and nobody bound
board()
{
	root=$work/root
	rm -rf "$root"
	dev=$root/sys/devices/platform/$npu
	mkdir -p "$root"/sys/bus/platform/devices "$dev/of_node" "$dev/iommu_group" "$root"/dev/dri
	ln -s "../../../devices/platform/$npu" "$root/sys/bus/platform/devices/$npu"
	printf 'rockchip,rk3588-rknpu\0' > "$dev/of_node/compatible"
	put proc/sys/kernel/osrelease 6.1.115-vendor-rk35xx
	put lib/modules/6.1.115-vendor-rk35xx/updates/dkms/rkmm.ko.xz module
	mkdir -p "$root/proc/device-tree"
	printf 'Orange Pi 5 Plus\0' > "$root/proc/device-tree/model"
	put sys/devices/system/cpu/cpufreq/policy0/scaling_governor ondemand
	put sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq 1800000
	put sys/devices/system/cpu/cpufreq/policy0/cpuinfo_max_freq 1800000
	put sys/class/devfreq/dmc/governor performance
	put sys/class/devfreq/dmc/cur_freq 2112000000
	put sys/class/devfreq/dmc/max_freq 2112000000
	put sys/class/thermal/thermal_zone0/type soc-thermal
	put sys/class/thermal/thermal_zone0/temp 52769
	put sys/class/thermal/thermal_zone6/type npu-thermal
	put sys/class/thermal/thermal_zone6/temp 53692
	put sys/class/thermal/cooling_device0/type cpufreq-cpu0
	put sys/class/thermal/cooling_device0/cur_state 0
	put sys/class/thermal/cooling_device0/max_state 6
	put sys/class/regulator/regulator.1/name vdd_npu_mem_s0
	put sys/class/regulator/regulator.1/microvolts 800000
	put sys/class/regulator/regulator.2/name vdd_npu_s0
	put sys/class/regulator/regulator.2/microvolts 850000
}

# the same with rkmm at work
healthy()
{
	board
	driver rkmm
	put sys/module/rkmm/version "$("$tool" --json | sed -n 's/.*"library_version": "\(.*\)".*/\1/p')"
	for p in derived:auto allow_unvalidated:N light:-1 feature:auto isolation:auto form:auto clock_mhz:0; do
		put "sys/module/rkmm/parameters/${p%:*}" "${p#*:}"
	done
	put "sys/devices/platform/$npu/rkmm/clock_hz" 1000000000
	put "sys/devices/platform/$npu/rkmm/resets" 0
	put "sys/devices/platform/$npu/rkmm/lost_irqs" 0
	put "sys/devices/platform/$npu/rkmm/states" "idle idle idle"
	put sys/class/thermal/cooling_device5/type rkmm
	put sys/class/thermal/cooling_device5/cur_state 0
	put sys/class/thermal/cooling_device5/max_state 4
	mkdir -p "$dev/rkmm-dma.1.auto/drm/renderD129" "$root/sys/class/drm"
	ln -s ../../../rkmm-dma.1.auto "$dev/rkmm-dma.1.auto/drm/renderD129/device"
	ln -s "../../devices/platform/$npu/rkmm-dma.1.auto/drm/renderD129" "$root/sys/class/drm/renderD129"
	# the GPU's node comes first
	mkdir -p "$root/sys/devices/platform/gpu/drm/renderD128"
	ln -s ../.. "$root/sys/devices/platform/gpu/drm/renderD128/device"
	ln -s ../../devices/platform/gpu/drm/renderD128 "$root/sys/class/drm/renderD128"
	: > "$root/dev/dri/renderD128"
	: > "$root/dev/dri/renderD129"
	chmod 666 "$root"/dev/dri/*
}

run()
{
	"$tool" --root "$root" > "$work/out" 2>&1
	rc=$?
	"$tool" --root "$root" --json > "$work/json"
	[ $? = $rc ]
}

# a value of the JSON, or the list of problems as ID:SEVERITY
json() # EXPRESSION
{
	/usr/bin/python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
f = d["facts"]
p = " ".join(x["id"] + ":" + x["severity"] for x in d["problems"])
assert all(x["fix"].strip() and "\n" not in x["fix"] for x in d["problems"])
print(eval(sys.argv[2]))' "$work/json" "$1" 2> "$work/err" || cat "$work/err"
}

# found TEXT STATUS PROBLEMS FIX: exactly these, and the command stands behind the first
found()
{
	local text=$1 status=$2 want=$3 fix=$4

	run && [ $rc = "$status" ] && [ "$(json p)" = "$want" ] && [ "$(json 'd["status"]')" = "$status" ] &&
		{ [ -z "$fix" ] || grep -qxF -- "    $fix" "$work/out"; }
	ok "$text"
}

healthy
found "a healthy board" 0 "" ""
grep -q '^No problem found' "$work/out" && grep -qE '^node +/dev/dri/renderD129$' "$work/out" &&
	grep -qE '^clock +1000 MHz of 1000$' "$work/out" && grep -qE '^voltage +850 mV \(vdd_npu_s0\)$' "$work/out"
ok "its facts for people"
[ "$(json 'f["board"], f["driver"], f["clock_hz"], f["npu_microvolts"], f["npu_millicelsius"], f["gates"], f["envelope"]')" = \
	"('Orange Pi 5 Plus', 'rkmm', 1000000000, 850000, 53692, 'as shipped', None)" ]
ok "its facts for programs"
"$tool" --root "$root" -q > "$work/out" && [ ! -s "$work/out" ]
ok "nothing to say is said quietly"

board
driver RKNPU
put sys/class/devfreq/fdab0000.npu/cur_freq 200000000
put sys/class/devfreq/fdab0000.npu/max_freq 1000000000
found "the vendor's driver" 2 vendor:error "rkmm-switch rkmm && reboot"
[ "$(json 'f["clock_hz"]')" = 200000000 ]
ok "its clock"
board
driver rocket
found "rocket" 2 rocket:error "rkmm-switch status"
board
driver vfio-platform
found "another driver" 2 other-driver:error "echo $npu > /sys/bus/platform/drivers/vfio-platform/unbind"
board
found "not loaded" 2 not-loaded:error "modprobe rkmm"
put sys/module/rkmm/version 0.1.0
found "loaded and not bound" 2 not-bound:error "dmesg | grep rkmm"
board
rm -r "${root:?}/lib"
found "not installed" 2 not-installed:error "dkms autoinstall -k 6.1.115-vendor-rk35xx"
board
put sys/module/module/parameters/sig_enforce Y
put var/lib/dkms/mok.pub key
found "signatures wanted" 2 unsigned:error "mokutil --import /var/lib/dkms/mok.pub"
board
rmdir "$dev/iommu_group"
found "no IOMMU" 2 no-iommu:error "fdtput -t s THE-BOARD.dtb /iommu@fdab9000 status okay"
board
printf 'rockchip,rk3588-rknn-core\0' > "$dev/of_node/compatible"
found "a mainline device tree" 2 mainline-tree:error "rkmm-switch status"
board
rm "$root/sys/bus/platform/devices/$npu"
found "no NPU" 2 no-npu:error "modprobe rkmm_soft && modprobe rkmm"
mkdir -p "$root/proc/device-tree/npu@fdab0000"
printf 'disabled\0' > "$root/proc/device-tree/npu@fdab0000/status"
found "NPU disabled" 2 disabled:error "fdtput -t s THE-BOARD.dtb /npu@fdab0000 status okay"
board
rm -r "${root:?}/sys"
found "no sysfs" 2 no-sysfs:error "mount -t sysfs none /sys"

healthy
put sys/module/rkmm/version 1.0.0
found "another major version" 2 versions:error "apt-get install --only-upgrade librkmm1"
healthy
put sys/module/rkmm/version 0.0.9
found "an older module" 0 versions:note "dkms autoinstall && modprobe -r rkmm && modprobe rkmm"
healthy
mkdir -p "$root/usr/src/rkmm-9.1.0"
found "newer sources" 0 newer-sources:note "dkms autoinstall && modprobe -r rkmm && modprobe rkmm"

healthy
rm "$root/dev/dri/renderD129"
found "no node" 2 no-node:error "udevadm trigger --action=add --subsystem-match=drm"
put .dockerenv ''
found "no node in a container" 2 no-node-container:error "docker run --device /dev/dri/renderD129 ..."
[ "$(json 'f["container"]')" = yes ]
ok "which is said"

# permissions are those of somebody who is not root
nobody()
{
	if [ "$(id -u)" = 0 ]; then
		cp "$tool" "$work/rkmm-info"
		LD_LIBRARY_PATH=$PWD/build/host/lib setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
	else
		"$@"
	fi
}
forbidden() # TEXT MODE PROBLEM FIX
{
	chmod "$2" "$root/dev/dri/renderD129"
	[ "$(id -u)" != 0 ] || chown 0:"$(getent group tty | cut -d: -f3)" "$root/dev/dri/renderD129"
	nobody "$tool" --root "$root" > "$work/out" 2>&1
	[ $? = 2 ] && grep -q "^error: .*renderD129" "$work/out" &&
		[ "$(grep -c '^error\|^warning\|^note' "$work/out")" = 1 ] && grep -qE "^    $4" "$work/out"
	ok "$1"
}
if [ "$(id -u)" = 0 ] && ! LD_LIBRARY_PATH=$PWD/build/host/lib nobody "$tool" --help > /dev/null 2>&1; then
	for t in "not in the group" "a node for root alone" "not in the group, in a container"; do
		n=$((n + 1))
		echo "ok $n $t # SKIP nobody may not run $tool"
	done
elif [ "$(id -u)" = 0 ]; then
	healthy
	forbidden "not in the group" 0660 no-permission "sudo usermod -aG tty nobody"
	forbidden "a node for root alone" 0600 no-udev-rule "sudo sh -c 'cd /dev/dri; chgrp render renderD129; chmod 660 "
	put run/.containerenv ''
	forbidden "not in the group, in a container" 0660 no-permission-container \
		"docker run --group-add [0-9]+ --device /dev/dri/renderD129 "
fi

healthy
put "sys/devices/platform/$npu/rkmm/clock_hz" 200000000
found "a slow clock" 1 slow-clock:warning "dmesg | grep 'rkmm $npu'"
put sys/module/rkmm/parameters/clock_mhz 300
found "a clock that was asked for" 1 clock-limited:warning \
	"sed -i 's/ clock_mhz=[0-9]*//' /etc/modprobe.d/rkmm.conf"
healthy
put sys/class/thermal/cooling_device5/cur_state 2
found "throttled" 1 throttled:warning "echo 0 | sudo tee /sys/class/thermal/cooling_device5/cur_state"
healthy
put sys/class/thermal/thermal_zone6/temp 96000
found "hot" 1 hot:warning "echo 1 | sudo tee /sys/class/thermal/cooling_device5/cur_state"
healthy
put sys/class/thermal/cooling_device0/cur_state 3
found "CPUs throttled" 1 cpu-throttled:warning "cat /sys/class/thermal/thermal_zone*/temp"
healthy
put sys/devices/system/cpu/cpufreq/policy4/scaling_governor powersave
put sys/devices/system/cpu/cpufreq/policy4/scaling_cur_freq 408000
found "slow CPUs" 1 cpu-governor:warning \
	"echo performance | sudo tee /sys/devices/system/cpu/cpufreq/policy*/scaling_governor"
healthy
put sys/class/devfreq/dmc/governor powersave
put sys/class/devfreq/dmc/cur_freq 528000000
found "slow memory" 1 ddr-governor:warning "echo performance | sudo tee /sys/class/devfreq/dmc/governor"
put sys/class/devfreq/dmc/governor dmc_ondemand
found "memory on demand" 0 ddr-governor:note "echo performance | sudo tee /sys/class/devfreq/dmc/governor"

healthy
put "sys/devices/platform/$npu/rkmm/resets" 7
found "hangs" 0 hangs:note "dmesg | grep 'rkmm.*hang:'"
healthy
put "sys/devices/platform/$npu/rkmm/states" "idle stuck busy"
found "a lost core" 1 core-lost:warning "modprobe -r rkmm && modprobe rkmm"
healthy
envelope() # CELLS, below 256
{
	{ printf 'RKMMENV\n\1\0\0\0'; printf "\\$(printf %03o "$1")"; head -c 51 /dev/zero; head -c $((8 * $1)) /dev/zero; } \
		> "$dev/rkmm/envelope"
}
envelope 0
found "no envelope" 0 no-envelope:note "sudo rkmm-calibrate"
envelope 37
found "an envelope" 0 "" ""
[ "$(json 'f["envelope"]')" = "37 geometries checked on this die" ]
ok "which is said"
mkdir -p "$root/var/lib/rkmm"
: > "$root/var/lib/rkmm/envelope"
envelope 0
found "an envelope that was not given back" 0 envelope-unused:note "sudo systemctl start rkmm-envelope"
: > "$dev/rkmm/envelope"
found "an envelope that cannot be read, and a saved one" 0 "" ""
healthy
put sys/module/rkmm/parameters/derived on
put sys/module/rkmm/parameters/feature direct
run
[ "$(json 'f["gates"]')" = "derived=on feature=direct" ]
ok "open gates"
healthy
put "sys/devices/platform/$npu/rkmm/states" "idle stuck busy"
put "sys/devices/platform/$npu/rkmm/clock_hz" 300000000
rm "$root/dev/dri/renderD129"
found "several at once: the worst counts" 2 "no-node:error slow-clock:warning core-lost:warning" ""

# nothing in the files is trusted
healthy
head -c 5000 /dev/urandom | tr -d '\0\n' > "$dev/rkmm/states"
head -c 5000 /dev/zero | tr '\0' '"' > "$root/proc/sys/kernel/osrelease"
put sys/class/thermal/thermal_zone0/temp -40000
put sys/class/devfreq/dmc/cur_freq 99999999999999999999999999
run
[ $rc -le 2 ] && [ "$(json '"kernel" in f')" = True ]
ok "nonsense in files is quoted"

"$tool" --root /nonexistent > "$work/out" 2>&1
[ $? = 3 ] && "$tool" --what > "$work/out" 2>&1
[ $? = 3 ] && "$tool" --json -q > "$work/out" 2>&1
[ $? = 3 ] && "$tool" more > "$work/out" 2>&1
[ $? = 3 ]
ok "wrong usage"
