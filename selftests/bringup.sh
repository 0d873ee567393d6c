#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The bring-up kit on the software NPU: with all quirks off it must find that nothing is needed, and
# with them on that something is, each time with right results where the driver does what is needed.
# Reloads the driver, and once more at the end.

# shellcheck source=driver.inc
. "$(dirname "$0")/driver.inc"

faults=/sys/module/rkmm_soft/parameters/faults
state=$(mktemp -d)
kit="rkmm-bringup --quick --yes --state $state"

[ "$(id -u)" = 0 ] || skip "must be root"
[ -w $faults ] || skip "no software NPU"
command -v rkmm-bringup > /dev/null || skip "no rkmm-bringup"
rmmod rkmm 2> /dev/null || skip "rkmm is not loaded, or in use"

explain()
{
	sed 's/^/# /' "$state/out"
}

# run STEP: and whether it passed
run()
{
	# shellcheck disable=SC2086 # words
	$kit "$1" > "$state/out" 2>&1
}

# found STEP NAME VALUE: the step passes, and this is what it says of NAME
found()
{
	run "$1" && grep -q "^$2 $3" "$state/$1.answers"
}

gate()
{
	rkmm-bringup --state "$state" --gates | grep -qw -- "$1"
}

no_gate()
{
	! gate "$1"
}

for s in 10-identity 20-types 30-cores 40-interrupts 50-clock 85-polling 96-reset 97-soak; do
	check "$s" run $s
done
check "first outputs of a good NPU" found 60-first first_outputs right
check "features of a good NPU" found 70-features feature_direct right
check "transitions of a good NPU" found 75-transitions transitions_warm right
check "narrow output of a good NPU" found 80-landing landing off
check "light programs" found 90-light light right
check "cubes of int4" found 92-cube cube right
for g in warmup=off feature=direct transitions=warm landing=off light=1; do
	check "$g may be set" gate $g
done

echo '*.cold=1' > $faults
check "first outputs that are lost" found 60-first first_outputs wrong
echo '*.cold=0,*.untouched=1' > $faults
check "int4 that hangs before int8" found 60-first first_outputs wrong
check "warmup=off may not be set" no_gate warmup=off
echo '*.untouched=0,*.feature_cache=1' > $faults
check "features that are remembered" found 70-features feature_direct wrong
check "feature=direct may not be set" no_gate feature=direct
echo '*.feature_cache=0,*.transition=1' > $faults
check "transitions that do harm" found 75-transitions transitions_warm wrong
check "transitions=warm may not be set" no_gate transitions=warm
echo '*.transition=0,*.late_output=100000' > $faults
check "narrow output that is late" eval 'run 80-landing; ! grep -q "landing off" "$state/80-landing.answers"'
check "landing=off may not be set" no_gate landing=off
echo '*.late_output=0,*.never_start=1' > $faults
check "a core that does not start once is recovered" run 20-types
echo '*.never_start=1000000' > $faults
check "an NPU that is gone is told" eval '! run 20-types; rkmm-bringup --state "$state" --list | grep -q "20-types *wedged"'
echo '*.never_start=0' > $faults
check "the report holds all answers" rkmm-bringup --state "$state" --report "$state/report.tar.gz"
echo "1..$n"
rmmod rkmm
load || failed=1
rm -rf "$state"
[ $failed = 0 ]
