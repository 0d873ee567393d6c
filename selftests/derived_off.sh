#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The test "derived" with every value of the parameter, and what else goes by evidence with it
# off. Reloads the driver, and once more at the end.

# shellcheck source=driver.inc
. "$(dirname "$0")/driver.inc"

[ "$(id -u)" = 0 ] || skip "must be root"
[ -d /sys/module/rkmm_soft ] || skip "no software NPU"
rmmod rkmm 2> /dev/null || skip "rkmm is not loaded, or in use"
if load derived=perhaps; then
	echo "Bail out! rkmm loads with derived=perhaps"
	exit 1
fi
rmmod rkmm 2> /dev/null
ret=0
# the int4 cube is derived: int4 that asks for no form is served all the same
for way in derived=on "derived=off form=cube"; do
	# shellcheck disable=SC2086 # two parameters
	if ! load $way; then
		echo "Bail out! rkmm does not load with $way"
		exit 1
	fi
	"$(dirname "$0")/derived" || ret=1
	if [ "$way" != derived=on ]; then
		"$(dirname "$0")/ops" || ret=1
	fi
	rmmod rkmm || ret=1
done
load || ret=1
exit $ret
