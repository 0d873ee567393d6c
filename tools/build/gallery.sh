#!/bin/bash
# SPDX-License-Identifier: MIT
#
# build/gallery/index.html: what there is to see, on one page without anything from elsewhere: tables
# and pictures of the bench, timelines of whole models, and the documents that hold the matrices.

set -eu
cd "$(dirname "$0")/../.."
out=build/gallery
tools/build/deb.sh need python3-docutils
make -s --no-print-directory host
[ "${VBOARD_NO_BUILD-0}" = 1 ] || make -s --no-print-directory vboard-image
rm -rf "$out"
mkdir -p "$out"

escape()
{
	sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g'
}

# figure TITLE FILE: a picture as a part of the page
figure()
{
	echo "<h3>$1</h3>"
	sed -n '/<svg/,$p' "$2"
}

# shown TITLE COMMAND...: what a command prints
shown()
{
	local title=$1

	shift
	printf '  %-7s %s\n' SHOW "$title" >&2
	"$@" > "$out/.shown"
	echo "<h3>$title</h3><pre>"
	escape < "$out/.shown"
	echo "</pre>"
}

# document NAME: a page of Documentation
document()
{
	# links go to what lies beside it
	rst2html5 --halt=3 --no-datestamp "Documentation/$1.rst" |
		sed 's/href="\([a-z-]*\)\.rst"/href="\1.html"/g' > "$out/$1.html"
}

on_board()
{
	VBOARD_NO_BUILD=1 tools/vboard run --share "$out" -- "$@"
}

page()
{
	cat <<-'END'
	<!DOCTYPE html>
	<html lang="en"><head><meta charset="utf-8"><title>rkmm</title><style>
	body { max-width: 70em; margin: 2em auto; padding: 0 1em; font: 16px/1.5 sans-serif; color: #222 }
	pre { overflow-x: auto; padding: .7em; background: #f4f4f2; font-size: 13px }
	svg { max-width: 100%; height: auto }
	</style></head><body><h1>rkmm</h1>
	<p>Times of the bench are those of the software NPU and tell nothing about silicon; times of models
	are predicted. Both can be made again: <code>make gallery</code>.</p>
	<h2>Documents</h2><ul>
	END
	for d in "${documents[@]}"; do
		echo "<li><a href=\"$d.html\">$(sed -n '/^==*$/{n;p;q}' "Documentation/$d.rst" | escape)</a></li>"
	done
	echo "</ul><h2>Bench</h2>"
	shown "Matmuls" on_board rkmm-bench --set quick --repeat 3 -q --plot /share/bench.svg
	figure "Predicted and measured" "$out/bench.svg"
	shown "Operations, their evidence and largest error" build/host/bin/rkmm-regcmd ops
	echo "<h2>Whole models, predicted</h2>"
	for t in $(build/host/bin/rkmm-replay -l | cut -d' ' -f1); do
		shown "$t" build/host/bin/rkmm-replay -t "$t" --svg "$out/$t.svg"
		figure "$t: timeline" "$out/$t.svg"
	done
	echo "</body></html>"
}

documents=()
for d in Documentation/*.rst; do
	d=${d##*/}
	documents+=("${d%.rst}")
	document "${d%.rst}"
done
page > "$out/.page"
mv "$out/.page" "$out/index.html"
rm -f "$out"/.shown "$out"/*.svg
# nothing is fetched by who reads it
if grep -nE '(src|href)="(https?:)?//' "$out/index.html"; then
	echo "gallery: something from elsewhere" >&2
	exit 1
fi
echo "$out/index.html"
