#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Dies that do not do what the tables say (hw 03 §1.7): 235, where the published geometry costs
# one discovery and no more; 236, where rkmm-calibrate finds the wide one; and verdicts that come
# from elsewhere. Reloads the driver several times, and once more at the end.

# shellcheck source=driver.inc
. "$(dirname "$0")/driver.inc"
tmp=/tmp/envelope.$$
npu=$bus/devices/rkmm-npu/rkmm
soft=/sys/module/rkmm_soft/parameters

explain()
{
	echo "# first=${first-} resets=$(resets) programs=$(programs)"
	cat "$tmp.out" "$tmp.err" 2> /dev/null | tail -n 20 | sed 's/^/# /'
	dmesg | grep -E 'envelope:|hang:' | tail -n 5 | sed 's/^/# /'
}

# multiply N: 40 rows of K = 2048 by as many columns, right or not at all
multiply()
{
	rkmm-matmul "$tmp.a" "$tmp.b$1" --precision int4 --verify --json > "$tmp.out" 2> "$tmp.err"
}

programs()
{
	sed -n 's/.*"programs": \([0-9]*\).*/\1/p' "$tmp.out"
}

resets()
{
	cat $npu/resets
}

# wait until a line of the log came
told()
{
	i=0
	until dmesg | grep -q "$1"; do
		i=$((i + 1))
		[ $i -gt 600 ] && return 1
		sleep 0.1
	done
}

# count VERDICT [MORE]: geometries of the report in $tmp.out
count()
{
	grep -c "$2.*\"verdict\": \"$1\"" "$tmp.out"
}

discovery()
{
	dmesg -c > /dev/null
	multiply 64
	told 'envelope: bits=4 form=batch k=2048 rows=8 .* outcome=hung' || return 1
	first=$(resets)
	i=0
	while [ $i -lt 4 ]; do
		multiply 64 || return 1
		i=$((i + 1))
	done
	# ten programs of four rows; a job is started eight times more at most
	[ "$(programs)" = 10 ] && [ "$(resets)" = "$first" ] && [ "$first" -le 9 ]
}

kept()
{
	rkmm-calibrate --export "$tmp.kept" && [ -s "$tmp.kept" ] &&
		[ "$(stat -c %a $npu/envelope)" = 600 ] &&
		reload die=shipped timeout_factor=1 && rkmm-calibrate --import "$tmp.kept" &&
		multiply 64 && [ "$(programs)" = 10 ] && [ "$(resets)" = 0 ] &&
		rkmm-calibrate --export "$tmp.again" && cmp "$tmp.kept" "$tmp.again"
}

# refused FILE WHY
refused()
{
	dmesg -c > /dev/null
	rkmm-calibrate --import "$1" > "$tmp.out" 2>&1
	[ $? = 3 ] && dmesg | grep -q "envelope: not imported: $2" &&
		rkmm-calibrate --export "$tmp.again" && cmp "$tmp.kept" "$tmp.again"
}

damaged()
{
	size=$(stat -c %s "$tmp.kept")
	head -c $((size - 1)) "$tmp.kept" > "$tmp.short"
	head -c $((size - 8)) "$tmp.kept" > "$tmp.damaged"
	printf '\001\002\003\004\005\006\007\010' >> "$tmp.damaged"
	{ head -c 8 "$tmp.kept"; printf '\377'; tail -c +10 "$tmp.kept"; } > "$tmp.version"
	head -c 100 /dev/zero > "$tmp.zero"
	refused "$tmp.short" truncated && refused "$tmp.damaged" damaged &&
		refused "$tmp.version" 'of another version' && refused "$tmp.zero" 'not an envelope'
}

# the NPU device is made anew, with that number
another_chip()
{
	rmmod rkmm && echo "$1" > $soft/chip_id &&
		echo rkmm-soft > $bus/drivers/rkmm-soft/unbind &&
		echo rkmm-soft > $bus/drivers/rkmm-soft/bind &&
		load die=shipped timeout_factor=1
}

foreign()
{
	another_chip 77 && rkmm-calibrate --export "$tmp.kept2" || return 1
	dmesg -c > /dev/null
	rkmm-calibrate --import "$tmp.kept" > "$tmp.out" 2>&1
	[ $? = 3 ] && dmesg | grep -q 'envelope: not imported: of another chip' &&
		rkmm-calibrate --export "$tmp.again" && cmp "$tmp.kept2" "$tmp.again"
}

not_root()
{
	chmod 666 /dev/dri/renderD*
	start-stop-daemon -S -q -c nobody -x /usr/bin/rkmm-calibrate -- --dry-run 2> "$tmp.err"
	[ $? = 1 ] && grep -q 'only root' "$tmp.err"
}

# signalled while it runs, it says so, and goes on from there
stopped()
{
	multiply 192 && [ "$(programs)" = 15 ] || return 1
	rkmm-calibrate --bits 4 --k 2048 --json > "$tmp.out" 2> "$tmp.err" &
	pid=$!
	until rkmm-calibrate --bits 4 --k 2048 --dry-run | grep -q '^proven'; do
		kill -0 $pid || return 1
		sleep 0.1
	done
	kill -INT $pid
	wait $pid
	[ $? = 4 ] && grep -q '"complete": false' "$tmp.out" && [ "$(count unknown)" -gt 0 ]
}

found()
{
	before=$(rkmm-calibrate --bits 4 --k 2048 --dry-run | grep -c '^proven')
	rkmm-calibrate --bits 4 --k 2048 --json > "$tmp.out" 2> "$tmp.err" &&
		grep -q '"complete": true' "$tmp.out" &&
		[ "$(count failed)" = 0 ] && [ "$(count unknown)" = 0 ] &&
		[ "$(grep -c '"outcome": "none", .*proven\|"verdict": "proven", "outcome": "none"' "$tmp.out")" -ge "$before" ] &&
		[ "$(count proven '"rows": 32, "cols": 192, "banks": 4, "cores": 3')" = 1 ] || return 1
	multiply 192 && [ "$(programs)" -lt 15 ] && [ "$(resets)" = 0 ]
}

[ "$(id -u)" = 0 ] || skip "not root"
[ -w $soft/die ] || skip "no software NPU"
grep -qs '^nobody:' /etc/passwd || echo 'nobody:x:65534:65534::/:/bin/sh' >> /etc/passwd
rkmm-matmul --random 40x2048 -o "$tmp.a" && rkmm-matmul --random 2048x64 -o "$tmp.b64" &&
	rkmm-matmul --random 2048x192 -o "$tmp.b192" || exit 1
echo "TAP version 13"
echo "1..7"
echo 235 > $soft/die
reload die=shipped timeout_factor=1 || skip "rkmm is in use"
check "die 235: one discovery, not one a call" discovery
check "die 235: what is known is kept over a reload" kept
check "damaged verdicts are refused" damaged
check "those of another chip are" foreign
check "nobody but root probes" not_root
echo 236 > $soft/die
reload die=shipped timeout_factor=1
check "die 236: calibration can be stopped" stopped
check "die 236: it finds the wide geometry" found
echo 0 > $soft/die
another_chip 1
reload
rm -f "$tmp" "$tmp".*
exit $((failed != 0))
