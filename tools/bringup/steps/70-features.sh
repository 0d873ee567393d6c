# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # read by rkmm-bringup
title="does the die remember features?"
does="activations and results that lie in seven buffers in turn (hw 03 S2, M3, M4)"
expect="right with feature=fixed; with feature=direct nobody knows: the answer is kept"
hang="none was seen"
seconds=300

turns()
{
	bad=0
	for t in i8i32 i4i16 f16f32; do
		for c in 1 7; do
			for s in 1x512x96 64x512x96; do
				right -t $t -s $s -c $c -b 7 -r "$(often 700 21)" || bad=$((bad + 1))
			done
		done
	done
	[ $bad = 0 ]
}

run()
{
	direct=right fixed=right
	load feature=direct || return 1
	turns || direct="wrong in $bad of 12 runs"
	load feature=fixed || return 1
	turns || fixed="wrong in $bad of 12 runs"
	answer feature_direct "$direct"
	answer feature_fixed "$fixed"
	[ "$direct" != right ] || gate feature=direct
	[ "$fixed" = right ]
}
