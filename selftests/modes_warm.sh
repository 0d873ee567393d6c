#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The other half of the test "modes": with transitions=warm the software NPU's wrong results must be
# seen. Reloads the driver, and once more at the end.

ksft_skip=4
modules=/lib/modules/$(uname -r)/extra
bus=/sys/bus/platform

skip()
{
	echo "1..0 # SKIP $*"
	exit $ksft_skip
}

# load [PARAMETER]...
load()
{
	if [ -e "$modules/rkmm.ko" ]; then
		insmod "$modules/rkmm.ko" "$@" || return 1
	else
		modprobe rkmm "$@" || return 1
	fi
	i=0
	until [ -e $bus/devices/rkmm-npu/driver ]; do
		i=$((i + 1))
		[ $i -gt 300 ] && return 1
		sleep 0.1
	done
}

[ "$(id -u)" = 0 ] || skip "must be root"
[ -d /sys/module/rkmm_soft ] || skip "no software NPU"
rmmod rkmm 2> /dev/null || skip "rkmm is not loaded, or in use"
if load transitions=warm,int9; then
	echo "Bail out! rkmm loads with transitions=warm,int9"
	exit 1
fi
rmmod rkmm 2> /dev/null
if ! load transitions=warm golden=N; then
	echo "Bail out! rkmm does not load with transitions=warm"
	exit 1
fi
"$(dirname "$0")/modes"
ret=$?
rmmod rkmm && load || ret=1
exit $ret
