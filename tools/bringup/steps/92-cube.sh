# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # read by rkmm-bringup
title="int4 as cubes"
does="int4 and int8 products of the form that wastes no line (hw 02 §6.2)"
expect="right: a second project had it exact"
hang="the driver resets the NPU, and the batch form stays"
seconds=120

run()
{
	load || return 1
	for s in 4x512x64 8x1024x96 64x2048x128 128x512x256; do
		right -f cube -t i4i16 -s $s -r "$(often 50 2)" || { answer cube "int4 $s is wrong"; return 1; }
		right -f cube -t i8i32 -s $s -r "$(often 50 2)" || { answer cube "int8 $s is wrong"; return 1; }
	done
	answer cube right
}
