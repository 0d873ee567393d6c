// SPDX-License-Identifier: MIT
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "regcmd.h"

const char plan_help[] =
"usage: rkmm-regcmd plan --types T --m M --k K --n N [OPTION]...\n"
"Print how C[M][N] = A[M][K] x B[K][N] is cut into programs, what that costs, and why\n"
"other ways lost.\n"
"\n"
"  --types T         i8i32, i8i8, f16f32, f16f16 or i4i16\n"
"  --m, --k, --n     sizes\n"
"  --cores C         cores that may share the work, 1 to 3 (default 3)\n"
"  --die D           envelope: default, 235, 236, or shipped for the published tables\n"
"  --form F          auto (default), flat, batch or cube\n"
"  --slice W         K of a slice, as packed weights have it\n"
"  --free-slices     K may be cut where that is faster\n"
"  --force H,W,D     int4 batch: H rows and at most W columns per program, D data banks,\n"
"                    whatever the envelope says\n"
"  --stage NAME[,KEY=VALUE]...\n"
"                    what follows, up to four times; NAME as of rkmm-regcmd op, or requant;\n"
"                    KEY is with, value, value2, scale, out-scale, za, zb, zo, mult, shift\n"
"  --sums            i8i8: no requantisation: the sums go through a curve\n"
"  --json            one JSON object\n"
"\n"
"Times are of the cost law at 1 GHz. Exit status: 0, or 1 when the shape cannot be\n"
"served or the arguments are wrong.\n";

/**
 * struct plan_request - the command line
 * @limits: chip, with the die that was asked for
 * @mm: the operation
 * @forced: the geometry of --force
 * @forced_die: a die that knows @forced only
 * @have: bits of the sizes seen
 * @json: print JSON
 * @text: --stage
 * @stages: what it says
 * @epilogue: what becomes of it
 */
struct plan_request {
	struct rkmm_limits limits;
	struct rkmm_matmul mm;
	struct rkmm_rung forced;
	struct rkmm_die forced_die;
	unsigned int have;
	bool json;
	char *text[RKMM_STAGES];
	struct rkmm_stages stages;
	struct rkmm_epilogue *epilogue;
};

enum plan_option {
	P_M, P_K, P_N, P_TYPES, P_REQUIRED,
	P_CORES = P_REQUIRED, P_DIE, P_FORM, P_SLICE, P_FREE, P_FORCE, P_JSON, P_STAGE,
	P_SUMS,
};

static const struct option options[] = {
	{ "m", 1, 0, P_M }, { "k", 1, 0, P_K }, { "n", 1, 0, P_N }, { "types", 1, 0, P_TYPES },
	{ "cores", 1, 0, P_CORES }, { "die", 1, 0, P_DIE }, { "form", 1, 0, P_FORM },
	{ "slice", 1, 0, P_SLICE }, { "free-slices", 0, 0, P_FREE }, { "force", 1, 0, P_FORCE },
	{ "json", 0, 0, P_JSON }, { "stage", 1, 0, P_STAGE }, { "sums", 0, 0, P_SUMS },
	{ 0, 0, 0, 0 }
};

static bool parse_form(const char *text, enum rkmm_form *form)
{
	uint32_t i;

	for (i = 0; i <= RKMM_FORM_COUNT; i++) {
		if (!strcmp(text, i < RKMM_FORM_COUNT ? rkmm_form_name(i) : "auto")) {
			*form = i;
			return true;
		}
	}
	complain("--form: '%s' is none of auto, flat, batch, cube", text);
	return false;
}

static bool parse_die(const char *text, struct plan_request *r)
{
	r->limits.die = rkmm_die_find(text);
	if (r->limits.die)
		return true;
	complain("--die: '%s' is none of default, 235, 236, shipped", text);
	return false;
}

static bool parse_force(const char *text, struct plan_request *r)
{
	unsigned int h, w, d;
	char end;

	if (sscanf(text, "%u,%u,%u%c", &h, &w, &d, &end) != 3 || !h || h > 255 || !w ||
	    w % 64 || w > 8192 || !d || d > 11) {
		complain("--force: '%s' is not H,W,D: up to 255, a multiple of 64, 1 to 11", text);
		return false;
	}
	r->forced = (struct rkmm_rung){
		.bits = 4, .form = RKMM_FORM_BATCH, .cores = 7, .data_banks = (uint8_t)d,
		.k_max = UINT32_MAX, .rows = h, .cols = w,
	};
	r->forced_die = (struct rkmm_die){ "forced", &r->forced, 1 };
	r->limits.die = &r->forced_die;
	return true;
}

static bool parse_option(int c, char *text, struct plan_request *r)
{
	int64_t v;

	switch (c) {
	case P_M:
	case P_K:
	case P_N:
	case P_SLICE:
		if (!parse_number(c == P_M ? "--m" : c == P_K ? "--k" : c == P_N ? "--n" :
				  "--slice", text, 1, UINT32_MAX, &v))
			return false;
		if (c == P_SLICE)
			r->mm.slice = (uint32_t)v;
		else
			*(c == P_M ? &r->mm.m : c == P_K ? &r->mm.k : &r->mm.n) = (uint32_t)v;
		return true;
	case P_CORES:
		if (!parse_number("--cores", text, 1, RKMM_LANES_MAX, &v))
			return false;
		r->mm.lanes = (uint32_t)v;
		return true;
	case P_TYPES:
		return parse_types(text, &r->mm.types);
	case P_DIE:
		return parse_die(text, r);
	case P_FORM:
		return parse_form(text, &r->mm.form);
	case P_FORCE:
		return parse_force(text, r);
	case P_FREE:
		r->mm.free_slice = true;
		return true;
	case P_JSON:
		r->json = true;
		return true;
	case P_STAGE:
		if (r->stages.n == RKMM_STAGES) {
			complain("--stage: %u are possible", RKMM_STAGES);
			return false;
		}
		r->text[r->stages.n++] = text;
		return true;
	case P_SUMS:
		return true;
	default:
		return false;
	}
}

static bool parse_plan(int argc, char **argv, struct plan_request *r)
{
	int c, i;

	*r = (struct plan_request){
		.limits = rkmm_limits_rk3588,
		.mm = { .form = RKMM_FORM_COUNT, .lanes = RKMM_LANES_MAX },
	};
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == '?' || !parse_option(c, optarg, r))
			return false;
		r->have |= 1u << c;
	}
	if (optind != argc) {
		complain("plan: '%s' is no option", argv[optind]);
		return false;
	}
	for (i = 0; i < P_REQUIRED; i++) {
		if (!(r->have >> i & 1)) {
			complain("plan: --%s is missing", options[i].name);
			return false;
		}
	}
	if (r->have >> P_FORCE & 1 && r->have >> P_DIE & 1) {
		complain("--force and --die exclude each other");
		return false;
	}
	if (r->mm.types == RKMM_T_I8I8 && !(r->have >> P_SUMS & 1)) {
		r->mm.mult = 0x4000;	/* the identity of hw 02 §2 */
		r->mm.shift = 14;
	}
	return parse_stages(r->text, r->stages.n, r->mm.types, &r->stages);
}

static bool same(const struct rkmm_geom *x, const struct rkmm_geom *y)
{
	return x->lanes == y->lanes && x->slices == y->slices && x->rows == y->rows &&
	       x->cols == y->cols && x->data_banks == y->data_banks;
}

static uint64_t program_bytes(const struct plan_request *r, const struct rkmm_geom *g)
{
	struct rkmm_member one = rkmm_member_of(g, g->mm.m, 0, 0, 0);
	struct rkmm_extent extent;

	rkmm_image_measure(&r->limits, &one, 1, &extent);
	return extent.bytes;
}

static void print_geom(const struct plan_request *r, const struct rkmm_geom *g)
{
	printf("form        %s\n", rkmm_form_name(g->form));
	printf("K           %u, padded to %u", g->mm.k, g->ka);
	if (g->slices > 1)
		printf(": %u slices of %u, partial results are %s", g->slices, g->kp,
		       rkmm_types_name(g->types));
	printf("\nN           %u, padded to %u\n", g->mm.n, g->np);
	printf("program     %u rows, %u columns; %u data and %u weight banks, %u grains%s\n",
	       g->rows, g->cols, g->data_banks, g->weight_banks, g->grains,
	       g->weight_reuse ? ", weight kept" : "");
	printf("programs    %u = %u slices x %u column tiles x %u row tiles, on %u core%s\n",
	       g->programs, g->slices, g->n_tiles, g->m_tiles, g->lanes, g->lanes > 1 ? "s" : "");
	printf("bytes       A %" PRIu64 ", B %" PRIu64 ", C %" PRIu64 ", programs %" PRIu64 "\n",
	       g->a_bytes, g->b_bytes, g->c_bytes, program_bytes(r, g));
	printf("time        %.1f us", (double)g->predicted_ns / 1000);
	if (g->host_ns)
		printf(", and %.1f us of the CPU for partial results", (double)g->host_ns / 1000);
	printf("\n");
	if (g->may_saturate)
		printf("caution     partial sums may be clamped though the whole sum fits\n");
}

static void print_text_plan(const struct plan_request *r, const struct rkmm_geom *best)
{
	struct rkmm_geom g;
	enum rkmm_reason reason;
	uint32_t i;

	print_geom(r, best);
	if (r->stages.n)
		print_stages(&r->stages, r->epilogue);
	if (rkmm_geom_fallback(&r->limits, best, &g))
		printf("fallback    %u rows, %u columns, %u programs, %.1f us, same operands\n",
		       g.rows, g.cols, g.programs, (double)g.predicted_ns / 1000);
	for (i = 0; i < rkmm_geom_candidates(&r->limits); i++) {
		reason = rkmm_geom_candidate(&r->limits, &r->mm, i, &g);
		if (reason || same(&g, best))
			continue;
		printf("lost        %u rows, %u columns, %u data banks, %u slices, %u cores: ",
		       g.rows, g.cols, g.data_banks, g.slices, g.lanes);
		printf("%u programs, %.1f us, %.2f times as long\n", g.programs,
		       (double)(g.predicted_ns + g.host_ns) / 1000,
		       (double)(g.predicted_ns + g.host_ns) /
		       (double)(best->predicted_ns + best->host_ns));
	}
}

static void print_json_geom(const struct plan_request *r, const struct rkmm_geom *g)
{
	printf("{\"form\": \"%s\", \"slices\": %u, \"slice_k\": %u, ", rkmm_form_name(g->form),
	       g->slices, g->kp);
	printf("\"padded_k\": %u, \"padded_n\": %u, ", g->ka, g->np);
	printf("\"rows\": %u, \"columns\": %u, \"data_banks\": %u, \"weight_banks\": %u, ",
	       g->rows, g->cols, g->data_banks, g->weight_banks);
	printf("\"grains\": %u, \"weight_reuse\": %s, \"cores\": %u, \"programs\": %u, ",
	       g->grains, g->weight_reuse ? "true" : "false", g->lanes, g->programs);
	printf("\"a_bytes\": %" PRIu64 ", \"b_bytes\": %" PRIu64 ", \"c_bytes\": %" PRIu64 ", ",
	       g->a_bytes, g->b_bytes, g->c_bytes);
	printf("\"program_bytes\": %" PRIu64 ", \"may_saturate\": %s, ",
	       program_bytes(r, g),
	       g->may_saturate ? "true" : "false");
	printf("\"predicted_ns\": %" PRIu64 ", \"host_ns\": %" PRIu64 "}", g->predicted_ns,
	       g->host_ns);
}

static void print_json_plan(const struct plan_request *r, const struct rkmm_geom *best)
{
	const char *comma = "";
	struct rkmm_geom g;
	uint32_t i;

	printf("{\"types\": \"%s\", \"m\": %u, \"k\": %u, \"n\": %u, ",
	       rkmm_types_name(r->mm.types), r->mm.m, r->mm.k, r->mm.n);
	printf("\"die\": \"%s\",\n \"choice\": ", r->limits.die->name);
	print_json_geom(r, best);
	if (r->stages.n) {
		printf(",\n \"epilogue\": ");
		print_stages_json(&r->stages, r->epilogue);
	}
	printf(",\n \"fallback\": ");
	if (rkmm_geom_fallback(&r->limits, best, &g))
		print_json_geom(r, &g);
	else
		printf("null");
	printf(",\n \"lost\": [");
	for (i = 0; i < rkmm_geom_candidates(&r->limits); i++) {
		if (rkmm_geom_candidate(&r->limits, &r->mm, i, &g) || same(&g, best))
			continue;
		printf("%s\n  ", comma);
		print_json_geom(r, &g);
		comma = ",";
	}
	printf("]}\n");
}

/* --force: the rung alone, with the number of cores that is fastest. */
static enum rkmm_reason forced(const struct plan_request *r, struct rkmm_geom *best)
{
	enum rkmm_reason reason, first = RKMM_REASON_FORM;
	struct rkmm_geom g;
	bool found = false;
	uint32_t i;

	for (i = 0; i < rkmm_geom_candidates(&r->limits); i++) {
		if (!rkmm_geom_candidate_rung(&r->limits, i))
			continue;
		reason = rkmm_geom_candidate(&r->limits, &r->mm, i, &g);
		if (reason && reason != RKMM_REASON_COUNT)
			first = reason;
		if (reason || (found && g.predicted_ns + g.host_ns >=
				       best->predicted_ns + best->host_ns))
			continue;
		*best = g;
		found = true;
	}
	return found ? RKMM_OK : first;
}

/* The tiling, and what follows it */
static enum rkmm_reason choose(struct plan_request *r, struct rkmm_geom *geom)
{
	enum rkmm_reason reason = RKMM_OK;

	if (r->stages.n)
		reason = rkmm_epilogue_make(&r->stages, &r->mm, r->epilogue);
	if (reason == RKMM_OK)
		reason = r->forced.rows ? forced(r, geom) :
					  rkmm_geometry(&r->limits, &r->mm, geom);
	if (reason == RKMM_OK && r->stages.n)
		reason = rkmm_epilogue_bind(&r->limits, &r->stages, r->epilogue, geom);
	return reason;
}

static void complain_reason(const struct plan_request *r, enum rkmm_reason reason)
{
	char stage[40] = "";

	if (r->stages.n)
		snprintf(stage, sizeof(stage), " (stage %u of the epilogue)",
			 r->epilogue->refused);
	complain("%s %ux%ux%u cannot be served: %s%s", rkmm_types_name(r->mm.types), r->mm.m,
		 r->mm.k, r->mm.n, rkmm_reason_text(reason), stage);
}

static int show(struct plan_request *r)
{
	enum rkmm_reason reason;
	struct rkmm_geom geom;

	reason = choose(r, &geom);
	if (reason) {
		complain_reason(r, reason);
		return EXIT_USAGE;
	}
	if (r->forced.rows)
		warn("forced: %u rows, %u columns, %u data banks; the envelope is not applied",
		     r->forced.rows, r->forced.cols, r->forced.data_banks);
	if (r->json)
		print_json_plan(r, &geom);
	else
		print_text_plan(r, &geom);
	return 0;
}

int cmd_plan(int argc, char **argv)
{
	struct plan_request r;
	int status;

	if (!parse_plan(argc, argv, &r))
		return EXIT_USAGE;
	r.epilogue = malloc(sizeof(*r.epilogue));
	if (!r.epilogue) {
		complain("out of memory");
		return EXIT_USAGE;
	}
	status = show(&r);
	free(r.epilogue);
	return status;
}
