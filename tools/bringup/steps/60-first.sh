# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # read by rkmm-bringup
title="first outputs"
does="the first products of each type after power-on, with nothing run before (hw 03 S1, S4 to S6)"
expect="right with the driver's warm-up; without it nobody knows: the answer is kept"
hang="int4 before any int8 was seen to hang; the driver resets the NPU"
seconds=300

run()
{
	bad=0 ret=0
	for i in $(seq "$(often 5 1)"); do
		for t in i4i16 i8i32 f16f32; do
			# a hang is an answer here, not to be cured
			load warmup=off retry=N golden=N suspect=N || return 1
			right -t $t -r 4 || bad=$((bad + 1))
			load warmup=on || return 1
			right -t $t -r 4 || ret=1
		done
	done
	if [ $bad = 0 ]; then
		answer first_outputs right
		gate warmup=off
	else
		answer first_outputs "wrong or hanging in $bad of $(($(often 5 1) * 3)) loads"
	fi
	[ $ret = 0 ] || answer warm-up "does not help"
	return $ret
}
