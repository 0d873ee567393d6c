# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # read by rkmm-bringup
title="light programs"
does="chains whose programs write only what differs (hw 02 §7.4)"
expect="right, or wrong at once"
hang="a program that lacks a register: the driver resets the NPU, and light stays off"
seconds=120

run()
{
	load light=1 || return 1
	for t in i4i16 i8i32 f16f32; do
		right -t $t -s 64x2048x256 -r "$(often 50 2)" || { answer light "$t is wrong"; return 1; }
	done
	answer light right
	gate light=1
}
