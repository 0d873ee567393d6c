#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rkmm-bringup without a board: steps and programs of its own stand in. What comes of a step that
# passes, fails, hangs, takes the NPU or the machine down, is left out or done again.

set -u
cd "$(dirname "$0")/../.." || exit 1
top=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0 failed=0

check()
{
	local text=$1

	n=$((n + 1))
	shift
	if "$@"; then
		echo "ok $n $text"
	else
		echo "not ok $n $text"
		sed 's/^/#   /' "$work/out"
		failed=$((failed + 1))
	fi
}

mkdir -p "$work/bin" "$work/kit/steps"
cp tools/bringup/rkmm-bringup "$work/kit/"
kit=$work/kit/rkmm-bringup
stub()
{
	{ echo '#!/bin/sh'; cat; } > "$work/bin/$1"
	chmod +x "$work/bin/$1"
}
stub id <<< 'echo 0'
stub modprobe <<< 'echo "modprobe $*" >> '"$work/loads"
stub dmesg <<< 'echo "[ 1.0] rkmm: hang: core=0 pid=480 comm=secret name"'
stub rkmm-probe <<< '
case $(cat '"$work"'/probe 2> /dev/null) in
dead) exit 1 ;;
wrong) echo "runs=16 wrong=2 elements=9 errors=0 errno=0 first_wrong=3 median_us=12.5"; exit 3 ;;
*) echo "runs=16 wrong=0 elements=0 errors=0 errno=0 first_wrong=-1 median_us=12.5" ;;
esac'
# the driver is there when the folder is: what the kit looks for lies in /sys, which a test leaves alone
sed -i "s|/sys/bus/platform|$work/sys/bus/platform|; s|/sys/module/rkmm\\b|$work/sys/module/rkmm|g; s|/dev/kmsg|$work/kmsg|" "$kit"
mkdir -p "$work/sys/bus/platform/drivers/rkmm/npu/rkmm" "$work/sys/module"

step()
{
	{ echo "title='step $1' does=it expect=it hang=no seconds=2"; cat; } > "$work/kit/steps/$1.sh"
}
step 10-good <<< 'run() { load a=1 && right -r 2 && answer colour green && gate light=1; }'
step 20-bad <<< 'run() { answer colour red; gate light=0; right -r 2; }'
step 30-good <<< 'run() { gate poll=on; }'

kit()
{
	PATH=$work/bin:$PATH "$kit" --state "$work/state" "$@" > "$work/out" 2>&1 < /dev/null
}
status()
{
	local want=$1

	shift
	kit "$@"
	[ $? = "$want" ]
}
has()
{
	grep -q -- "$1" "$work/out"
}
lacks()
{
	! has "$1"
}
is()
{
	kit --list && grep -q "^$1 *$2 " "$work/out"
}

check "nothing is known at first" is 10-good -
check "a dry run describes" status 0 --dry-run
check "and does nothing" [ ! -e "$work/state/10-good.result" ]
echo wrong > "$work/probe"
check "a step that fails is told" status 1 -y 10-good 20-bad
check "as failed" is 20-bad failed
check "the first one too" is 10-good failed
check "its gates count for nothing" eval 'kit --gates; lacks light'
rm "$work/probe"
check "again forgets" status 0 --again 20-bad
check "all that passed has an answer" eval 'kit --again 10-good; kit -y; is 10-good passed'
check "with what was found" has "colour green"
check "the driver got its parameter" grep -q 'a=1' "$work/loads"
check "gates are parameters" eval 'kit --gates; has "light=0 light=1 poll=on"'
check "for modprobe" eval 'kit --gates "$work/gates"; grep -q "^options rkmm .*poll=on" "$work/gates"'
check "what has an answer is not run again" eval ': > "$work/loads"; kit -y; ! grep -q a=1 "$work/loads"'
check "unless named" eval 'kit -y 10-good; grep -q a=1 "$work/loads"'
step 40-hang <<< 'run() { sleep 100; }'
check "a step that does not end has a limit" status 1 -y
check "and is told as hung" is 40-hang hung
step 50-kill <<< 'run() { echo dead > '"$work/probe"'; }'
check "an NPU that is gone ends the run" status 3 -y
check "it is the answer of that step" is 50-kill wedged
rm "$work/probe"
step 60-down <<< 'run() { answer never seen; }'
echo 60-down > "$work/state/running"
check "a machine that went down" status 0 -y
check "is the answer of its step" is 60-down wedged
check "which is not repeated by itself" eval 'kit -y; lacks "== 60-down"'
step 70-skip <<< 'run() { return 1; }'
check "a step can be left out" eval 'kit --skip 70-skip; is 70-skip skipped'
check "it stays out" status 0 -y
check "an unknown step is refused" status 2 -y 99-none
check "an unknown option too" status 2 --wrong
check "a missing value too" status 2 --skip
check "without an answer to the question nothing runs" eval 'kit --again 70-skip; kit; is 70-skip -'
check "the report is a tarball" status 0 --report "$work/report.tar.gz"
tar -xzf "$work/report.tar.gz" -C "$work"
check "with all answers" grep -q 'colour green' "$work/rkmm-bringup/answers"
check "with the log" grep -q 'hang: core=0' "$work/rkmm-bringup/dmesg"
check "without names of processes" eval '! grep -rq "secret\\|pid=480" "$work/rkmm-bringup"'
check "without the host name" eval '! grep -rqw "$(hostname)" "$work/rkmm-bringup"'
for s in "$top"/tools/bringup/steps/*.sh; do
	# shellcheck source=/dev/null
	check "${s##*/} describes itself" eval '(title="" does="" expect="" hang=""; . "$s"; [ "$title" ] && [ "$does" ] && [ "$expect" ] && [ "$hang" ] && command -v run > /dev/null)'
done
echo "1..$n"
[ $failed = 0 ]
