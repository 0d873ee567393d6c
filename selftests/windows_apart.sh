#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The test "windows" where every client has windows of its own, and where A and C are staged at
# addresses that do not move, in each of them, on a chip that goes by those addresses. Reloads
# the driver, and once more at the end.

# shellcheck source=driver.inc
. "$(dirname "$0")/driver.inc"

faults=/sys/module/rkmm_soft/parameters/faults

[ "$(id -u)" = 0 ] || skip "must be root"
[ -w $faults ] || skip "no software NPU"
rmmod rkmm 2> /dev/null || skip "rkmm is not loaded, or in use"
ret=0
for way in isolation=strict "feature=fixed isolation=strict"; do
	# shellcheck disable=SC2086 # two parameters
	if ! load landing=trailer $way; then
		echo "Bail out! rkmm does not load with $way"
		exit 1
	fi
	if [ "$way" != isolation=strict ]; then
		echo '*.feature_cache=1' > $faults
	fi
	"$(dirname "$0")/windows" || ret=1
	echo '*.feature_cache=0' > $faults
	rmmod rkmm || ret=1
done
load || ret=1
exit $ret
