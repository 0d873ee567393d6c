#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What rkmm-trace makes of real runs, against what others have counted: jobs by the driver in sysfs,
# starts of each core by the software NPU.

# shellcheck source=driver.inc
. "$(dirname "$0")/driver.inc"
tmp=/tmp/trace.$$
soft=/sys/kernel/debug/rkmm_soft/device
npu=$bus/devices/rkmm-npu/rkmm
tests=7

# number KEY: of the report's first lines
number()
{
	sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$tmp.json" | head -n 1
}

# same WHAT A B
same()
{
	[ -n "$2" ] && [ "$2" = "$3" ] && return 0
	echo "# $1: $2 here, $3 there"
	return 1
}

# counts of the software NPU's cores, "1 2 3"
starts()
{
	for c in 0 1 2; do
		sed -n 's/^starts //p' $soft/core$c/stats
	done | tr '\n' ' '
}

# report COMMAND...: run it recorded
report()
{
	jobs=$(cat $npu/jobs)
	before=$(starts)
	rkmm-trace record -o "$tmp" -- "$@" > "$tmp.out" 2>&1 || {
		sed 's/^/# /' "$tmp.out"
		return 1
	}
	after=$(starts)
	jobs=$(($(cat $npu/jobs) - jobs))
	rkmm-trace --json --perfetto "$tmp.perfetto" "$tmp" > "$tmp.json"
}

# bars TRACK: of the timeline, "from to" in ns, by their place in the file
bars()
{
	sed -n "s/.*\"ph\": \"X\", \"pid\": 1, \"tid\": $1, \"ts\": \([0-9.]*\), \"dur\": \([0-9.]*\),.*/\1 \2/p" \
		"$tmp.perfetto"
}

# every job once, with its end
jobs_once()
{
	same jobs "$(grep -c '"seqno": ' "$tmp.json")" "$jobs" &&
	same "different jobs" "$(sed -n 's/.*{"client": \([0-9]*\), "seqno": \([0-9]*\),.*/\1 \2/p' \
		"$tmp.json" | sort -u | wc -l)" "$jobs" &&
	same "jobs in the timeline" "$(grep -c '"cat": "job"' "$tmp.perfetto")" "$jobs" &&
	same lost "$(number lost)" 0 && same faults "$(number faults)" 0 &&
	same unfinished "$(number unfinished)" 0
}

# a core has one bar for each start that the software NPU has seen, and they do not overlap
cores_right()
{
	# shellcheck disable=SC2086 # numbers
	set -- $before $after
	for c in 1 2 3; do
		bars $c > "$tmp.bars"
		eval "was=\$$c now=\$$((c + 3))"
		# shellcheck disable=SC2154 # by eval
		same "starts of core $((c - 1))" "$(wc -l < "$tmp.bars")" $((now - was)) || return 1
		awk '$1 + 0.0005 < last { exit 1 } { last = $1 + $2 }' "$tmp.bars" || {
			echo "# core $((c - 1)) runs two kicks at once"
			return 1
		}
	done
}

# submitted, ready, started, ended; none of them before the one before
in_order()
{
	sed -n 's/.*"submit_ns": \([0-9]*\), "ready_ns": \([0-9]*\), "start_ns": \([0-9]*\), "done_ns": \([0-9]*\),.*/\1 \2 \3 \4/p' \
		"$tmp.json" > "$tmp.order"
	same "jobs with all times" "$(wc -l < "$tmp.order")" "$jobs" &&
		awk '$1 > $2 || $2 > $3 || $3 > $4 { exit 1 }' "$tmp.order"
}

# product M K N [OPTION]...: of random matrices, checked
product()
{
	f=$tmp.$1x$2x$3
	rkmm-matmul --random "$1x$2" -o "$f.a" && rkmm-matmul --random "$2x$3" --seed 5 -o "$f.b" &&
		shift 3 && rkmm-matmul "$f.a" "$f.b" --verify "$@"
}

# three programs at once, two of them bound to a core
crowd()
{
	product 70 520 96 --cores 1 --repeat 9 &
	one=$!
	product 33 257 65 --cores 4 --repeat 9 --precision int8 &
	two=$!
	product 9 2048 130 --repeat 9 --precision int4 && wait $one && wait $two
}

# only core 2 may be used
one_core()
{
	report sh "$0" alone && jobs_once && cores_right &&
		same "kicks elsewhere" "$(bars 1 | wc -l) $(bars 2 | wc -l)" "0 0" &&
		[ "$(bars 3 | wc -l)" -gt 0 ]
}

# the status is the command's
status_kept()
{
	rkmm-trace record -o "$tmp" -- sh -c 'exit 7'
	[ $? = 7 ]
}

instances_gone()
{
	for i in /sys/kernel/tracing/instances/rkmm-trace*; do
		[ ! -e "$i" ] || return 1
	done
}

[ "$(id -u)" = 0 ] || skip "not root"
[ -d $soft ] || skip "no software NPU"
[ -w /sys/kernel/tracing/instances ] || skip "no tracefs"

case $1 in
crowd)	crowd; exit ;;
alone)	product 40 300 70 --cores 4 --repeat 3; exit ;;
esac
echo "TAP version 13"
echo "1..$tests"
check "record three programs" report sh "$0" crowd
check "each job is there once" jobs_once
check "kicks of each core are those of the NPU" cores_right
check "times of a job are in order" in_order
check "cores that were asked for" one_core
check "status of the command" status_kept
check "no instance is left" instances_gone
rm -f "$tmp" "$tmp".*
exit $((failed != 0))
