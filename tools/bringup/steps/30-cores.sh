# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # read by rkmm-bringup
title="each core, then several"
does="the same products on core 1, core 2, two and three cores at once"
expect="all right, and none of the cores hangs (hw 01 §9: bits 29 and 28 of S_POINTER)"
hang="that core alone; the others go on after the reset"

run()
{
	ret=0
	load clock_mhz=1 || return 1
	for c in 2 4 3 7; do
		for t in i8i32 f16f32 i4i16; do
			right -t $t -s 33x96x257 -c $c -r "$(often 20 3)" || { answer "cores_$c" "$t is wrong"; ret=1; }
		done
	done
	return $ret
}
