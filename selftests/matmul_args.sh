#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A few products of every type with each form and each envelope of the die that the driver can be
# loaded with, every result compared with plain loops; then both envelopes side by side, changed
# while the driver runs. "matmul" has the many shapes. Reloads the driver, and once more at the end.

# shellcheck source=driver.inc
. "$(dirname "$0")/driver.inc"
n=0
failed=0
# a wide tiling and the published one differ for int4 of K = 2048; rows, columns, K that fill nothing
shapes="--shape 5x70x40:i8i32 --shape 33x512x96:i8i8 --shape 3x65x33:f16f32 --shape 17x32x48:f16f16
	--shape 9x96x130:i4i16 --shape 40x2048x192:i4i16 --shape 1x2080x64:i4i16"

# check TEXT COMMAND...
check()
{
	n=$((n + 1))
	text=$1
	shift
	if "$@" > /tmp/matmul_args.$$ 2>&1; then
		echo "ok $n $text"
	else
		echo "not ok $n $text"
		failed=$((failed + 1))
		sed 's/^/# /' /tmp/matmul_args.$$
	fi
}

# products [PARAMETER]...
products()
{
	# shellcheck disable=SC2086 # words
	reload "$@" && rkmm-bench $shapes --repeat 1 -q
}

# what a plan is made with, and how products are submitted, in one program
side_by_side()
{
	was=$(cat /sys/module/rkmm/parameters/die)
	rkmm-bench --ab die:shipped=die:default --shape 40x2048x192:i4i16 --repeat 2 -q || return 1
	[ "$(cat /sys/module/rkmm/parameters/die)" = "$was" ] || return 1
	! echo 237 2> /dev/null > /sys/module/rkmm/parameters/die || return 1
	[ "$(cat /sys/module/rkmm/parameters/die)" = "$was" ] || return 1
	rkmm-bench --ab form:flat=form:batch --shape 12x256x128:i4i16 --repeat 2 -q &&
		rkmm-bench --ab form:cube=cores:1 --shape 12x256x128:i8i32 --repeat 2 -q &&
		rkmm-bench --ab single:6=group:6 --shape 3x64x64:f16f32 --repeat 2 -q &&
		rkmm-bench --ab batch:6=default --shape 3x64x64:i8i32 --repeat 2 -q
}

[ "$(id -u)" = 0 ] || skip "must be root"
[ -d /sys/module/rkmm_soft ] || skip "no software NPU"
command -v rkmm-bench > /dev/null || skip "no rkmm-bench"
rmmod rkmm 2> /dev/null || skip "rkmm is not loaded, or in use"
load || exit 1
for args in form=flat form=batch form=cube die=235 die=236 die=shipped light=0; do
	check "$args" products $args
done
reload || exit 1
check "arms of one program" side_by_side
rm -f /tmp/matmul_args.$$
echo "1..$n"
[ $failed = 0 ]
