// SPDX-License-Identifier: MIT
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "regcmd.h"

const char emit_help[] =
"usage: rkmm-regcmd emit matmul --types T --m M --k K --n N --a ADDR --b ADDR --c ADDR\n"
"                               [OPTION]...\n"
"Write the register-command program of C[M][N] = A[M][K] x B[K][N]: its register\n"
"writes, then the four words of its tail.\n"
"\n"
"  --types T         i8i32, i8i8, f16f32, f16f16 or i4i16\n"
"  --m, --k, --n     sizes; K and N are padded to what the hardware needs\n"
"  --a, --b, --c     device addresses of A, packed B and C\n"
"  --batch           int4: one program of M useful rows in the multi-row form\n"
"  --cube            channel-grouped A and C\n"
"  --stride S        row 0 of C has N elements, later rows are S elements apart\n"
"                    (the offset stride of the sheets)\n"
"  --a-pitch P       bytes between rows of A\n"
"  --c-pitch P       bytes between rows of C, all of them\n"
"  --mult X --shift Y --offset Z\n"
"                    int8 output: clamp(round(acc * X / 2^Y) + Z); default 16384 14 0\n"
"  --format F        words (default): one hex word of 16 digits per line; text; json\n"
"\n"
"Several programs, where the shape needs them:\n"
"  --base ADDR       write the linked chain that lies at ADDR\n"
"  --light           of the chain, programs after the second write what differs from\n"
"                    two programs before\n"
"  --program I       write program I alone\n"
"\n"
"Forced values give one program whatever the laws say, with a warning:\n"
"  --data-banks D    feature banks; the weight gets the other 12 - D\n"
"  --weight-banks W\n"
"  --grains G        lines to buffer before work starts\n"
"  --weight-reuse    take the weight that the last program left\n"
"  --force           no law, no limit, no padding of K beyond 32\n"
"\n"
"Exit status: 0, or 1 when the shape cannot be served or the arguments are wrong.\n";

enum format {
	FORMAT_WORDS,
	FORMAT_TEXT,
	FORMAT_JSON
};

/**
 * struct request - the command line
 * @mm: the operation
 * @addr: addresses of A, B, C
 * @have: bits of the options seen, 1 << enum option_id
 * @stride: elements between rows of C after the first
 * @data_banks: forced
 * @weight_banks: forced
 * @grains: forced
 * @base: address of the chain
 * @program: program wanted
 * @format: how to write
 */
struct request {
	struct rkmm_matmul mm;
	uint32_t addr[3];
	uint32_t have;
	uint32_t stride, data_banks, weight_banks, grains, base, program;
	enum format format;
};

enum option_id {
	O_TYPES, O_M, O_K, O_N, O_A, O_B, O_C, O_REQUIRED,
	O_BATCH = O_REQUIRED, O_CUBE, O_STRIDE, O_A_PITCH, O_C_PITCH, O_MULT, O_SHIFT, O_OFFSET,
	O_FORMAT, O_BASE, O_PROGRAM, O_DATA_BANKS, O_WEIGHT_BANKS, O_GRAINS, O_REUSE, O_FORCE,
	O_LIGHT, O_COUNT
};

static const struct option options[] = {
	{ "types", 1, 0, O_TYPES }, { "m", 1, 0, O_M }, { "k", 1, 0, O_K }, { "n", 1, 0, O_N },
	{ "a", 1, 0, O_A }, { "b", 1, 0, O_B }, { "c", 1, 0, O_C }, { "batch", 0, 0, O_BATCH },
	{ "cube", 0, 0, O_CUBE }, { "stride", 1, 0, O_STRIDE }, { "a-pitch", 1, 0, O_A_PITCH },
	{ "c-pitch", 1, 0, O_C_PITCH }, { "mult", 1, 0, O_MULT }, { "shift", 1, 0, O_SHIFT },
	{ "offset", 1, 0, O_OFFSET }, { "format", 1, 0, O_FORMAT }, { "base", 1, 0, O_BASE },
	{ "program", 1, 0, O_PROGRAM }, { "data-banks", 1, 0, O_DATA_BANKS },
	{ "weight-banks", 1, 0, O_WEIGHT_BANKS }, { "grains", 1, 0, O_GRAINS },
	{ "weight-reuse", 0, 0, O_REUSE }, { "force", 0, 0, O_FORCE },
	{ "light", 0, 0, O_LIGHT }, { 0, 0, 0, 0 }
};

static bool have(const struct request *r, enum option_id id)
{
	return r->have >> id & 1;
}

bool parse_types(const char *text, enum rkmm_types *types)
{
	uint32_t i;

	for (i = 0; i < RKMM_T_COUNT; i++) {
		if (!strcmp(text, rkmm_types_name(i))) {
			*types = i;
			return true;
		}
	}
	complain("--types: '%s' is none of i8i32, i8i8, f16f32, f16f16, i4i16", text);
	return false;
}

static bool parse_format(const char *text, enum format *format)
{
	static const char * const names[] = { "words", "text", "json" };
	uint32_t i;

	for (i = 0; i < 3; i++) {
		if (!strcmp(text, names[i])) {
			*format = i;
			return true;
		}
	}
	complain("--format: '%s' is none of words, text, json", text);
	return false;
}

/* One option with a number: where it goes and what its field holds. */
static bool parse_numeric(struct request *r, enum option_id id, const char *text)
{
	static const struct {
		int64_t min, max;
	} range[O_COUNT] = {
		[O_M] = { 1, UINT32_MAX }, [O_K] = { 1, UINT32_MAX }, [O_N] = { 1, UINT32_MAX },
		[O_A] = { 0, UINT32_MAX }, [O_B] = { 0, UINT32_MAX }, [O_C] = { 0, UINT32_MAX },
		[O_STRIDE] = { 1, 1 << 20 }, [O_A_PITCH] = { 1, UINT32_MAX },
		[O_C_PITCH] = { 1, UINT32_MAX }, [O_MULT] = { -32768, 65535 },
		[O_SHIFT] = { 0, 4095 }, [O_OFFSET] = { INT32_MIN, INT32_MAX },
		[O_BASE] = { 0, UINT32_MAX }, [O_PROGRAM] = { 0, UINT32_MAX },
		[O_DATA_BANKS] = { 0, 15 }, [O_WEIGHT_BANKS] = { 0, 15 },
		[O_GRAINS] = { 0, 1023 },
	};
	char name[32];
	int64_t v;

	snprintf(name, sizeof(name), "--%s", options[id].name);
	if (!parse_number(name, text, range[id].min, range[id].max, &v))
		return false;
	switch (id) {
	case O_M:
		r->mm.m = (uint32_t)v;
		break;
	case O_K:
		r->mm.k = (uint32_t)v;
		break;
	case O_N:
		r->mm.n = (uint32_t)v;
		break;
	case O_A:
	case O_B:
	case O_C:
		r->addr[id - O_A] = (uint32_t)v;
		break;
	case O_STRIDE:
		r->stride = (uint32_t)v;
		break;
	case O_A_PITCH:
		r->mm.a_pitch = (uint32_t)v;
		break;
	case O_C_PITCH:
		r->mm.c_pitch = (uint32_t)v;
		break;
	case O_MULT:
		r->mm.mult = (int32_t)v;
		break;
	case O_SHIFT:
		r->mm.shift = (uint32_t)v;
		break;
	case O_OFFSET:
		r->mm.offset = (int32_t)v;
		break;
	case O_BASE:
		r->base = (uint32_t)v;
		break;
	case O_PROGRAM:
		r->program = (uint32_t)v;
		break;
	case O_DATA_BANKS:
		r->data_banks = (uint32_t)v;
		break;
	case O_WEIGHT_BANKS:
		r->weight_banks = (uint32_t)v;
		break;
	default:
		r->grains = (uint32_t)v;
		break;
	}
	return true;
}

static bool parse(int argc, char **argv, struct request *r)
{
	int c, i;

	*r = (struct request){ .mm.form = RKMM_FORM_COUNT };
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		bool ok = c != '?';

		if (c == O_TYPES)
			ok = parse_types(optarg, &r->mm.types);
		else if (c == O_FORMAT)
			ok = parse_format(optarg, &r->format);
		else if (c == O_BATCH)
			r->mm.form = RKMM_FORM_BATCH;
		else if (c == O_CUBE)
			r->mm.form = RKMM_FORM_CUBE;
		else if (ok && options[c].has_arg)
			ok = parse_numeric(r, c, optarg);
		if (!ok)
			return false;
		r->have |= 1u << c;
	}
	if (argc - optind > 1 && !strcmp(argv[optind], "matmul")) {
		complain("emit matmul: '%s' is no option", argv[optind + 1]);
		return false;
	}
	if (argc - optind != 1 || strcmp(argv[optind], "matmul")) {
		complain("emit: only 'emit matmul' is known");
		return false;
	}
	for (i = 0; i < O_REQUIRED; i++) {
		if (!have(r, i)) {
			complain("emit matmul: --%s is missing", options[i].name);
			return false;
		}
	}
	if (have(r, O_BATCH) && have(r, O_CUBE)) {
		complain("--batch and --cube exclude each other");
		return false;
	}
	if (have(r, O_BATCH) && r->mm.types != RKMM_T_I4I16) {
		complain("--batch is a form of i4i16");
		return false;
	}
	if (have(r, O_STRIDE) && (have(r, O_C_PITCH) || r->mm.form != RKMM_FORM_COUNT)) {
		complain("--stride excludes --c-pitch, --batch and --cube");
		return false;
	}
	if (have(r, O_BASE) && have(r, O_PROGRAM)) {
		complain("--base and --program exclude each other");
		return false;
	}
	if (r->mm.types == RKMM_T_I8I8) {
		/* The identity of hw 02 §2 */
		if (!have(r, O_MULT))
			r->mm.mult = 0x4000;
		if (!have(r, O_SHIFT))
			r->mm.shift = 14;
	}
	for (i = 0; i < 3; i++)
		if (r->addr[i] % 16)
			warn("--%c 0x%x is not a multiple of 16", 'a' + i, r->addr[i]);
	return true;
}

static bool forced(const struct request *r)
{
	return r->have & (1u << O_DATA_BANKS | 1u << O_WEIGHT_BANKS | 1u << O_GRAINS |
			  1u << O_REUSE | 1u << O_FORCE);
}

/* Everything in one program, as asked, for those who want to see what a broken law does. */
static bool raw_program(const struct request *r, struct rkmm_program *p)
{
	const struct rkmm_matmul *mm = &r->mm;
	uint32_t bits = rkmm_in_bits(mm->types), group = rkmm_group(mm->types);
	uint64_t k = ((uint64_t)mm->k + 31) / 32 * 32;
	uint64_t n = ((uint64_t)mm->n + group - 1) / group * group;
	uint64_t banks;

	if (k < rkmm_k_min(mm->types) && !have(r, O_FORCE))
		k = rkmm_k_min(mm->types);
	if (mm->m > 0xffff || k > 0xffff || n > 0x3fff) {
		complain("not even a forced program has M > 65535, K > 65535 or N > 16383");
		return false;
	}
	banks = (mm->m * ((k * bits / 8 + 63) / 64) * 64 + 32767) / 32768;
	*p = (struct rkmm_program){
		.types = mm->types,
		.form = mm->form == RKMM_FORM_COUNT ? RKMM_FORM_FLAT : mm->form,
		.m = mm->m,
		.k = (uint32_t)k,
		.n = (uint32_t)n,
		.data_banks = mm->types == RKMM_T_I4I16 && mm->form != RKMM_FORM_CUBE ? 1 :
			      banks > 11 ? 11 : (uint32_t)banks,
		.grains = (mm->form == RKMM_FORM_BATCH ? 4 * mm->m : mm->m) + 1,
		.a_pitch = mm->a_pitch ? mm->a_pitch : (uint32_t)(k * bits / 8),
		.c_pitch = mm->c_pitch ? mm->c_pitch : (uint32_t)n * rkmm_out_bytes(mm->types),
		.mult = mm->mult, .shift = mm->shift, .offset = mm->offset,
		.a = r->addr[0], .b = r->addr[1], .c = r->addr[2],
	};
	if (p->grains > 1023)
		p->grains = 1023;
	if (p->form == RKMM_FORM_CUBE) {
		p->a_pitch = 16 * mm->m;
		p->c_pitch = 16 * mm->m;
	}
	p->weight_banks = 12 - p->data_banks;
	return true;
}

static void force(const struct request *r, struct rkmm_program *p)
{
	if (have(r, O_DATA_BANKS)) {
		p->data_banks = r->data_banks;
		p->weight_banks = r->data_banks < 12 ? 12 - r->data_banks : 0;
	}
	if (have(r, O_WEIGHT_BANKS))
		p->weight_banks = r->weight_banks;
	if (have(r, O_GRAINS))
		p->grains = r->grains;
	if (have(r, O_REUSE))
		p->weight_reuse = true;
	if (have(r, O_DATA_BANKS) || have(r, O_WEIGHT_BANKS))
		warn("forced: %u data banks, %u weight banks; the bank laws are not applied",
		     p->data_banks, p->weight_banks);
	if (have(r, O_GRAINS))
		warn("forced: %u grains; the laws are not applied", p->grains);
	if (have(r, O_REUSE))
		warn("forced: weight reuse; right only after a program with the same weight");
}

static void set_stride(const struct request *r, struct rkmm_program *p)
{
	uint32_t ob = rkmm_out_bytes(p->types);

	p->c_first = p->n * ob;
	p->c_pitch = r->stride * ob;
	if (r->stride < p->n || p->c_pitch % 16 || r->stride > 8192)
		warn("--stride %u: rows overlap, are not whole atoms, or exceed the field",
		     r->stride);
}

static void print_words(const struct request *r, const char *form, uint32_t programs,
			const uint64_t *words, size_t n)
{
	size_t i;

	if (r->format == FORMAT_JSON)
		printf("{\"types\": \"%s\", \"form\": \"%s\", \"m\": %u, \"k\": %u, \"n\": %u,\n"
		       " \"programs\": %u, \"writes\": %u, \"tail\": %u, \"words\": [\n",
		       rkmm_types_name(r->mm.types), form, r->mm.m, r->mm.k, r->mm.n, programs,
		       RKMM_PROG_WRITES, RKMM_TAIL_WORDS);
	for (i = 0; i < n; i++) {
		if (r->format == FORMAT_WORDS) {
			printf("%016" PRIx64 "\n", words[i]);
		} else if (r->format == FORMAT_TEXT) {
			print_text(stdout, i, words[i]);
			putchar('\n');
		} else {
			print_json(stdout, i, words[i]);
			puts(i + 1 < n ? "," : "");
		}
	}
	if (r->format == FORMAT_JSON)
		puts("]}");
}

static int emit_one(const struct request *r, struct rkmm_program *p)
{
	uint64_t words[RKMM_PROG_WRITES + RKMM_TAIL_WORDS];
	uint32_t n;

	if (have(r, O_STRIDE))
		set_stride(r, p);
	n = rkmm_emit_program(p, words);
	rkmm_emit_tail(words + n, 0, 0, RKMM_START_MATMUL);
	print_words(r, rkmm_form_name(p->form), 1, words, n + RKMM_TAIL_WORDS);
	return 0;
}

static int emit_chain(const struct request *r, const struct rkmm_geom *geom)
{
	struct rkmm_member one = rkmm_member_of(geom, geom->mm.m, r->addr[0], r->addr[1],
						r->addr[2]);
	struct rkmm_limits limits = rkmm_limits_rk3588;
	struct rkmm_extent extent;
	struct rkmm_kick *kicks;
	uint64_t *image;
	uint32_t i;

	limits.light = have(r, O_LIGHT);
	rkmm_image_measure(&limits, &one, 1, &extent);
	if (extent.bytes > (1ull << 32) - r->base || r->base % 64) {
		complain("--base: %" PRIu64 " bytes must start at a multiple of 64 and fit 32 bits",
			 extent.bytes);
		return EXIT_USAGE;
	}
	image = malloc(extent.bytes);
	kicks = calloc(extent.kicks, sizeof(*kicks));
	if (!image || !kicks) {
		complain("out of memory for %u programs", geom->programs);
		free(image);
		free(kicks);
		return EXIT_USAGE;
	}
	rkmm_image_emit(&limits, &one, 1, r->base, image, kicks);
	print_words(r, rkmm_form_name(geom->form), geom->programs, image,
		    extent.bytes / sizeof(*image));
	for (i = 1; i < extent.kicks; i++)
		warn("kick %u starts at 0x%08x", i, kicks[i].addr);
	free(image);
	free(kicks);
	return 0;
}

int cmd_emit(int argc, char **argv)
{
	struct rkmm_program p;
	enum rkmm_reason reason;
	struct rkmm_geom geom;
	struct request r;
	bool one;

	if (!parse(argc, argv, &r))
		return EXIT_USAGE;
	reason = rkmm_geometry(&rkmm_limits_rk3588, &r.mm, &geom);
	one = !reason && geom.programs == 1;
	if (one) {
		rkmm_geom_program(&geom, 0, r.mm.m, r.addr[0], r.addr[1], r.addr[2], &p);
		/* --batch means M rows, where geometry may prefer more (hw 03 G17). */
		one = p.m == r.mm.m && !have(&r, O_FORCE);
	}
	if (!one && (forced(&r) || have(&r, O_BATCH)) && !have(&r, O_BASE) &&
	    !have(&r, O_PROGRAM)) {
		if (!raw_program(&r, &p))
			return EXIT_USAGE;
		warn("one program of %ux%ux%u: geometry would %s%s", p.m, p.k, p.n,
		     reason ? "refuse: " : "choose otherwise",
		     reason ? rkmm_reason_text(reason) : "");
		one = true;
	}
	if (one && r.program) {
		complain("--program: 1 program, numbered from 0");
		return EXIT_USAGE;
	}
	if (one && r.base % 64) {
		complain("--base: 0x%" PRIx32 " is not a multiple of 64", r.base);
		return EXIT_USAGE;
	}
	if (one) {
		force(&r, &p);
		return emit_one(&r, &p);
	}
	if (reason) {
		complain("%s %ux%ux%u cannot be served: %s", rkmm_types_name(r.mm.types), r.mm.m,
			 r.mm.k, r.mm.n, rkmm_reason_text(reason));
		return EXIT_USAGE;
	}
	if (forced(&r) || (have(&r, O_STRIDE) && geom.programs > 1)) {
		complain("forced values and --stride are for one program, this shape has %u",
			 geom.programs);
		return EXIT_USAGE;
	}
	if (have(&r, O_PROGRAM)) {
		if (r.program >= geom.programs) {
			complain("--program: %u programs, numbered from 0", geom.programs);
			return EXIT_USAGE;
		}
		rkmm_geom_program(&geom, r.program, r.mm.m, r.addr[0], r.addr[1], r.addr[2], &p);
		return emit_one(&r, &p);
	}
	if (have(&r, O_BASE))
		return emit_chain(&r, &geom);
	complain("%s %ux%ux%u takes %u programs: give --base ADDR or --program I",
		 rkmm_types_name(r.mm.types), r.mm.m, r.mm.k, r.mm.n, geom.programs);
	return EXIT_USAGE;
}
