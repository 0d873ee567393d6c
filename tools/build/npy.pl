#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# npy.pl make FILE TYPE ROWS COLS SEED   write a random matrix (int8, int4 values as int8, float32)
# npy.pl check A.npy B.npy C.npy [TOL]   recompute 500 cells of C = A x B, in double precision; TOL is
#                                        the relative error allowed, 0 without
# The demo's own arithmetic, that shares no code with what it checks.

use strict;
use warnings;

my %code = ('|i1' => ['c', 1], '<i2' => ['s<', 2], '<i4' => ['l<', 4], '<f4' => ['f<', 4]);

sub make {
	my ($file, $type, $rows, $cols, $seed) = @_;
	my $descr = $type eq 'float32' ? '<f4' : '|i1';
	my $head = sprintf "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }", $descr, $rows, $cols;

	srand $seed;
	$head .= ' ' x (63 - (10 + length($head)) % 64) . "\n";
	open my $f, '>:raw', $file or die "$file: $!\n";
	print $f "\x93NUMPY\x01\x00", pack('v', length $head), $head;
	for (1 .. $rows * $cols) {
		print $f $type eq 'float32' ? pack('f<', (rand() + rand() + rand() - 1.5) * 2) :
			 $type eq 'int4' ? pack('c', int(rand 16) - 8) : pack('c', int(rand 256) - 128);
	}
	close $f or die "$file: $!\n";
}

sub load {
	my ($file) = @_;

	open my $f, '<:raw', $file or die "$file: $!\n";
	local $/;
	my $data = <$f>;
	die "$file: not an .npy file\n" unless substr($data, 0, 6) eq "\x93NUMPY";
	my $v1 = ord(substr $data, 6, 1) == 1;
	my $len = $v1 ? unpack('v', substr $data, 8, 2) : unpack('V', substr $data, 8, 4);
	my $head = substr $data, $v1 ? 10 : 12, $len;
	my ($descr) = $head =~ /'descr':\s*'([^']+)'/;
	my ($rows, $cols) = $head =~ /'shape':\s*\((\d+),\s*(\d+),?\)/ or die "$file: not a matrix\n";
	die "$file: Fortran order\n" if $head =~ /'fortran_order':\s*True/;
	my $c = $code{$descr} or die "$file: type $descr\n";
	my $body = substr $data, ($v1 ? 10 : 12) + $len;
	die "$file: truncated\n" if length($body) < $rows * $cols * $c->[1];
	return { rows => $rows, cols => $cols, descr => $descr, v => [unpack "$c->[0]*", $body] };
}

sub check {
	my ($a, $b, $c, $tol) = (load($_[0]), load($_[1]), load($_[2]), $_[3] // 0);
	my ($m, $k, $n) = ($a->{rows}, $a->{cols}, $b->{cols});
	my $worst = 0;

	die "C is $c->{rows}x$c->{cols}, not ${m}x$n\n" if $c->{rows} != $m || $c->{cols} != $n;
	srand 1;
	for my $i (1 .. 500) {
		my ($row, $col) = $i == 1 ? (0, 0) : $i == 2 ? ($m - 1, $n - 1) : (int rand $m, int rand $n);
		my ($want, $size) = (0, 0);
		for my $j (0 .. $k - 1) {
			my $p = $a->{v}[$row * $k + $j] * $b->{v}[$j * $n + $col];
			$want += $p;
			$size += abs $p;
		}
		my $got = $c->{v}[$row * $n + $col];
		my $error = $size ? abs($got - $want) / $size : abs $got;
		$worst = $error if $error > $worst;
		die "C[$row,$col] is $got, not $want\n" if $error > $tol;
	}
	printf "500 cells of %dx%d (%s) recomputed: %s\n", $m, $n, $c->{descr},
		$tol ? sprintf('largest relative error %.2g', $worst) : 'all equal';
}

my $what = shift // '';
if ($what eq 'make' && @ARGV == 5) {
	make(@ARGV);
} elsif ($what eq 'check' && @ARGV >= 3) {
	check(@ARGV);
} else {
	die "usage: npy.pl make FILE TYPE ROWS COLS SEED | check A B C [TOL]\n";
}
