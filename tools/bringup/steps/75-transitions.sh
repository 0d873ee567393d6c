# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # read by rkmm-bringup
title="int8 next to int4"
does="large products of int8 and int4 in turn, without resets and with them (hw 03 §2)"
expect="right with the table of resets; without them nobody knows: the answer is kept"
hang="an int8 operation behind an int8 matmul (hw 03 O14); the driver resets the NPU"
seconds=600

turns()
{
	right -t i8i32,i4i16 -s 64x2560x64 -b 2 -r "$(often 400 8)" &&
		right -t f16f32,i8i32,f16f32,i4i16 -s 64x2560x64 -r "$(often 400 8)"
}

run()
{
	warm=right
	load transitions=warm || return 1
	turns || warm=wrong
	answer transitions_warm $warm
	[ $warm = wrong ] || gate transitions=warm
	load transitions=table || return 1
	turns
}
