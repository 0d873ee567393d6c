// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "kmod/prog/rkmm_regs.h"
#include "regcmd.h"

const char decode_help[] =
"usage: rkmm-regcmd decode [--dump] [--format text|json] [--tables] FILE|-\n"
"Print every entry of a program with register and field names. Entries that no\n"
"document names are marked and counted on standard error. Of the entries of a table\n"
"the text has the first, and how many follow; all with --tables.\n"
"\n"
"--dump: FILE is a dump of a hang, from /sys/class/devcoredump/*/data.\n"
"Else FILE holds one hex word per line (# starts a comment) or little-endian binary.\n"
"Fields that are 0 are left out of the text, not of the JSON.\n";

const char diff_help[] =
"usage: rkmm-regcmd diff X Y\n"
"Compare two programs register by register: the n-th write of a register in X\n"
"with its n-th write in Y. Exit status 0 when equal, 1 when not, 2 on trouble.\n"
"\n"
"Files as for decode; one of them may be - for standard input.\n";

static bool is_table_entry(uint64_t word)
{
	return rkmm_entry_target(word) == RKMM_TARGET_DPU &&
	       rkmm_entry_offset(word) == DPU_LUT_ACCESS_DATA;
}

/* Entries of a table from @i on that can be told in a line: all but the first. */
static size_t table_rest(const struct words *words, size_t i)
{
	size_t end = i;

	if (!i || !is_table_entry(words->v[i - 1]))
		return 0;
	while (end < words->n && is_table_entry(words->v[end]))
		end++;
	return end - i;
}

int cmd_decode(int argc, char **argv)
{
	static const struct option options[] = {
		{ "dump", 0, 0, 'd' }, { "format", 1, 0, 'f' }, { "tables", 0, 0, 't' },
		{ 0, 0, 0, 0 }
	};
	bool json = false, tables = false, dump = false;
	size_t i, rest, unknown = 0;
	struct words words;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 't') {
			tables = true;
			continue;
		}
		if (c == 'd') {
			dump = true;
			continue;
		}
		if (c != 'f')
			return EXIT_USAGE;
		json = !strcmp(optarg, "json");
		if (!json && strcmp(optarg, "text")) {
			complain("--format: '%s' is neither text nor json", optarg);
			return EXIT_USAGE;
		}
	}
	if (argc - optind != 1) {
		complain("decode: one FILE is needed, or - for standard input");
		return EXIT_USAGE;
	}
	if (dump)
		return print_dump(argv[optind], json);
	if (!read_words(argv[optind], &words))
		return EXIT_USAGE;
	if (json)
		fputs("[\n", stdout);
	for (i = 0; i < words.n; i++) {
		rest = json || tables ? 0 : table_rest(&words, i);
		if (rest > 1) {
			printf("%4zu  ... %zu more entries of the table\n", i, rest);
			i += rest - 1;
			continue;
		}
		unknown += !entry_known(words.v[i]);
		if (json)
			print_json(stdout, i, words.v[i]);
		else
			print_text(stdout, i, words.v[i]);
		fputs(json && i + 1 < words.n ? ",\n" : "\n", stdout);
	}
	if (json)
		fputs("]\n", stdout);
	free(words.v);
	if (unknown)
		warn("%zu unknown entries", unknown);
	return 0;
}

/* The n-th write of one register: what the two programs are joined by. */
struct key {
	uint64_t reg;	/* entry without its value */
	size_t index, copy;
	uint64_t word;
};

static int by_register(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->reg != y->reg)
		return x->reg < y->reg ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int by_index(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

static struct key *keys_of(const struct words *words)
{
	struct key *keys = malloc(words->n * sizeof(*keys));
	size_t i;

	if (!keys)
		return NULL;
	for (i = 0; i < words->n; i++)
		keys[i] = (struct key){
			.reg = words->v[i] & 0xffff00000000ffffull,
			.index = i,
			.word = words->v[i],
		};
	qsort(keys, words->n, sizeof(*keys), by_register);
	for (i = 1; i < words->n; i++)
		if (keys[i].reg == keys[i - 1].reg)
			keys[i].copy = keys[i - 1].copy + 1;
	return keys;
}

/**
 * struct change - one line of output
 * @at: place in X, or in Y for what only Y has
 * @x: entry of X
 * @y: entry of Y
 * @kind: ' ' both, '-' only X, '+' only Y
 * @copy: which write of its register
 */
struct change {
	struct key at;
	uint64_t x, y;
	char kind;
};

static int by_place(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if ((x->kind == '+') != (y->kind == '+'))
		return x->kind == '+' ? 1 : -1;
	return by_index(&x->at, &y->at);
}

static size_t compare(const struct key *x, size_t nx, const struct key *y, size_t ny,
		      struct change *changes)
{
	size_t i = 0, j = 0, n = 0;

	while (i < nx || j < ny) {
		int order = i == nx ? 1 : j == ny ? -1 : 0;

		if (!order && x[i].reg != y[j].reg)
			order = x[i].reg < y[j].reg ? -1 : 1;
		if (!order && x[i].copy != y[j].copy)
			order = x[i].copy < y[j].copy ? -1 : 1;
		if (order < 0) {
			changes[n++] = (struct change){ x[i], x[i].word, 0, '-' };
			i++;
		} else if (order > 0) {
			changes[n++] = (struct change){ y[j], 0, y[j].word, '+' };
			j++;
		} else {
			if (x[i].word != y[j].word)
				changes[n++] = (struct change){ x[i], x[i].word, y[j].word, ' ' };
			i++;
			j++;
		}
	}
	return n;
}

static void print_change(const struct change *c)
{
	uint64_t word = c->kind == '+' ? c->y : c->x;

	printf("%c %4zu  %s", c->kind, c->at.index, entry_name(word));
	if (c->at.copy)
		printf(" (write %zu)", c->at.copy + 1);
	if (c->kind == ' ') {
		printf("  0x%08" PRIx32 " -> 0x%08" PRIx32, rkmm_entry_value(c->x),
		       rkmm_entry_value(c->y));
		print_field_diff(stdout, c->x, c->y);
	} else {
		printf("  0x%08" PRIx32, rkmm_entry_value(word));
	}
	putchar('\n');
}

int cmd_diff(int argc, char **argv)
{
	static const struct option options[] = { { 0, 0, 0, 0 } };
	struct words x = { NULL, 0 }, y = { NULL, 0 };
	struct key *kx = NULL, *ky = NULL;
	struct change *changes = NULL;
	int status = EXIT_HANG;
	size_t n, i;

	if (getopt_long(argc, argv, "", options, NULL) != -1)
		return EXIT_HANG;
	if (argc - optind != 2) {
		complain("diff: two files are needed");
		return EXIT_HANG;
	}
	if (!read_words(argv[optind], &x) || !read_words(argv[optind + 1], &y))
		goto out;
	kx = keys_of(&x);
	ky = keys_of(&y);
	changes = malloc((x.n + y.n) * sizeof(*changes));
	if (!kx || !ky || !changes) {
		complain("out of memory");
		goto out;
	}
	n = compare(kx, x.n, ky, y.n, changes);
	qsort(changes, n, sizeof(*changes), by_place);
	for (i = 0; i < n; i++)
		print_change(&changes[i]);
	status = n ? 1 : 0;
out:
	free(changes);
	free(kx);
	free(ky);
	free(x.v);
	free(y.v);
	return status;
}
