#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The other half of the test "warmup": with warmup=off the software NPU's hangs and wrong results
# must be seen; and with warmup=on none of them right after the driver was loaded. Reloads the
# driver, and once more at the end.

# shellcheck source=driver.inc
. "$(dirname "$0")/driver.inc"

faults=/sys/module/rkmm_soft/parameters/faults

[ "$(id -u)" = 0 ] || skip "must be root"
[ -w $faults ] || skip "no software NPU"
rmmod rkmm 2> /dev/null || skip "rkmm is not loaded, or in use"
if load warmup=perhaps; then
	echo "Bail out! rkmm loads with warmup=perhaps"
	exit 1
fi
rmmod rkmm 2> /dev/null
ret=0
for way in on off; do
	# from power-on on
	echo '*.untouched=1,*.cold=1' > $faults
	if ! load warmup=$way golden=N timeout_factor=1; then
		echo "Bail out! rkmm does not load with warmup=$way"
		exit 1
	fi
	"$(dirname "$0")/warmup" || ret=1
	rmmod rkmm || ret=1
done
echo '*.untouched=0,*.cold=0' > $faults
load || ret=1
exit $ret
