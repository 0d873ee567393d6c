// SPDX-License-Identifier: MIT
#include <stdlib.h>

#include "image.h"
#include "kmod/prog/rkmm_chain.h"
#include "tools/common/common.h"

/**
 * struct image - one image
 * @limits: chip
 * @geom: tiling
 * @member: what is in it
 * @words: programs
 * @kicks: starts
 */
struct image {
	struct rkmm_limits limits;
	struct rkmm_geom geom;
	struct rkmm_member member;
	u64 *words;
	struct rkmm_kick *kicks;
};

#define MATMUL(t, f, rows, inner, columns) { \
	.types = (t), .form = (f), .m = (rows), .k = (inner), .n = (columns), .lanes = 3 }

static const struct {
	struct image_case name;
	const char *die;
	struct rkmm_matmul mm;
	uint32_t count;
} cases[] = {
	{ { "int4 batch 128x2048x2048, shipped", "i4_batch_shipped" }, "shipped",
	  MATMUL(RKMM_T_I4I16, RKMM_FORM_BATCH, 128, 2048, 2048), 1 },
	{ { "int4 batch 128x6144x2048", "i4_batch" }, "default",
	  MATMUL(RKMM_T_I4I16, RKMM_FORM_BATCH, 128, 6144, 2048), 1 },
	{ { "int4 rows 64x2048x2048, 16 times", "i4_rows" }, "default",
	  MATMUL(RKMM_T_I4I16, RKMM_FORM_FLAT, 64, 2048, 2048), 16 },
	{ { "int8 512x2048x8192, 16 times", "i8" }, "default",
	  MATMUL(RKMM_T_I8I32, RKMM_FORM_FLAT, 512, 2048, 8192), 16 },
	{ { "int8 33x512x4096, 256 times", "i8_short" }, "default",
	  MATMUL(RKMM_T_I8I32, RKMM_FORM_FLAT, 33, 512, 4096), 256 },
	{ { "fp16 1x128x64, 1024 times", "f16_heads" }, "default",
	  MATMUL(RKMM_T_F16F32, RKMM_FORM_FLAT, 1, 128, 64), 1024 },
};

const struct image_case *image_case(unsigned int i)
{
	if (i >= sizeof(cases) / sizeof(cases[0]))
		return NULL;
	return &cases[i].name;
}

struct image *image_new(unsigned int i, bool light, uint32_t *programs, uint32_t *lights)
{
	struct image *image = allocate(1, sizeof(*image));
	struct rkmm_extent extent;
	uint32_t k;

	image->limits = rkmm_limits_rk3588;
	image->limits.light = light;
	image->limits.die = rkmm_die_find(cases[i].die);
	if (rkmm_geometry(&image->limits, &cases[i].mm, &image->geom) != RKMM_OK)
		die(1, "%s: no tiling", cases[i].name.name);
	image->member = rkmm_member_of(&image->geom, cases[i].mm.m, 0x10000000, 0x20000000,
				       0x30000000);
	image->member.count = cases[i].count;
	image->member.b_stride = 0x10000;
	image->member.c_stride = 0x10000;
	rkmm_image_measure(&image->limits, &image->member, 1, &extent);
	image->words = aligned_alloc(64, extent.bytes);
	if (!image->words)
		die(1, "out of memory");
	image->kicks = allocate(extent.kicks, sizeof(*image->kicks));
	image_make(image);
	*programs = extent.tasks;
	*lights = 0;
	/* The first two of a chain are full, all others differ little from those two before. */
	for (k = 0; light && k < extent.kicks; k++)
		if (image->kicks[k].tasks > 2)
			*lights += image->kicks[k].tasks - 2;
	return image;
}

void image_make(struct image *image)
{
	struct rkmm_extent extent;

	rkmm_image_measure(&image->limits, &image->member, 1, &extent);
	rkmm_image_emit(&image->limits, &image->member, 1, 0x40000000, image->words, image->kicks);
	__asm__ volatile("" : : "r"(image->words) : "memory");
}

void image_free(struct image *image)
{
	free(image->words);
	free(image->kicks);
	free(image);
}
