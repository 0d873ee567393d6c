// SPDX-License-Identifier: GPL-2.0-only
/* The law of hw 03 §6.2, its constants, and chance. */
#include "npu_shim.h"
#include "npu_time.h"

/*
 * hw 03 §6.2. t0(2) is not given; its own points 28, 31 and 34 were made with
 * t0(1). A single move takes 40-110 us and one of a chain about 34; what is left
 * goes to the rate of one core. The interrupt is that of §6.6, and so is the lag
 * of narrow output.
 */
#define FIT						\
	.i4_rate = { 220000, 220000, 180000 },		\
	.row_start = 410000,				\
	.row_rate = 8200,				\
	.i8_start = { 56000, 56000, 147000 },		\
	.i8_rate = { 9600, 19300, 25500 },		\
	.i8_macs = 450000,				\
	.f16_start = 400000,				\
	.f16_rate = 24000,				\
	.f16_macs = 150000,				\
	.move_task = 34000,				\
	.move_rate = 8200,				\
	.irq_least = 5000,				\
	.irq_most = 20000,				\
	.land_least = 20000,				\
	.land_most = 100000,				\
	.sigma = 30

static const struct npu_time_law fit = { FIT, .i4_task = { 600, 3000, 7400 } };

/*
 * Points 20 and 21 are all that is known of it: with the rates of the other die and the
 * host terms of §6.2, 3556 us on three cores and 7615 us on one are these times per task.
 */
static const struct npu_time_law die_235 = { FIT, .i4_task = { 4654, 5459, 6264 } };

static bool equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

const struct npu_time_law *npu_time_profile(const char *name)
{
	if (equal(name, "default") || equal(name, "236"))
		return &fit;
	return equal(name, "235") ? &die_235 : NULL;
}

/* In the order of the structure */
static const struct {
	const char *name;
	bool rate;
} constants[] = {
	{ "i4_task_1", false },	 { "i4_task_2", false },  { "i4_task_3", false },
	{ "i4_rate_1", true },	 { "i4_rate_2", true },	  { "i4_rate_3", true },
	{ "row_start", false },	 { "row_rate", true },
	{ "i8_start_1", false }, { "i8_start_2", false }, { "i8_start_3", false },
	{ "i8_rate_1", true },	 { "i8_rate_2", true },	  { "i8_rate_3", true },
	{ "i8_macs", true },
	{ "f16_start", false },	 { "f16_rate", true },	  { "f16_macs", true },
	{ "move_task", false },	 { "move_rate", true },
	{ "irq_least", false },	 { "irq_most", false },
	{ "land_least", false }, { "land_most", false },
	{ "sigma", false },
};

static_assert(ARRAY_SIZE(constants) == NPU_TIME_CONSTANTS, "one name a constant");

const char *npu_time_name(u32 i)
{
	return i < ARRAY_SIZE(constants) ? constants[i].name : "?";
}

static u32 scaled(u32 value, u64 mul, u64 div)
{
	u64 v = value * mul / npu_max(div, 1);

	if (!v && value)
		return 1;
	return v > 0xffffffff ? 0xffffffff : (u32)v;
}

void npu_time_scale(struct npu_time_law *law, u32 percent)
{
	u32 *c = (u32 *)law, i;

	percent = npu_max(percent, 1);
	/* the last is no time */
	for (i = 0; i + 1 < NPU_TIME_CONSTANTS; i++)
		c[i] = constants[i].rate ? scaled(c[i], 100, percent) :
		       scaled(c[i], percent, 100);
}

void npu_time_perturb(struct npu_time_law *law, u32 seed, u32 percent)
{
	u32 *c = (u32 *)law, i, at;

	percent = npu_min(percent, 99);
	for (i = 0; i < NPU_TIME_CONSTANTS; i++) {
		at = npu_time_between(&seed, 0, 2000 * percent);
		c[i] = scaled(c[i], 100000 + at - 1000 * percent, 100000);
	}
	law->irq_most = npu_max(law->irq_most, law->irq_least);
	law->land_most = npu_max(law->land_most, law->land_least);
}

/* @count at @rate in a us, as ns; counts stay below 2^54 */
static u64 at_rate(u64 count, u32 rate)
{
	return count * 1000 / npu_max(rate, 1);
}

static u32 clamp_cores(u32 cores)
{
	return npu_min(npu_max(cores, 1), NPU_TIME_CORES);
}

u64 npu_time_start(const struct npu_time_law *law, enum npu_kind kind, u32 cores)
{
	switch (kind) {
	case NPU_KIND_I4_ROW:
		return law->row_start;
	case NPU_KIND_I8:
		return law->i8_start[clamp_cores(cores) - 1];
	case NPU_KIND_F16:
		return law->f16_start;
	default:
		return 0;
	}
}

/* Bandwidth is what all cores have together; each gets its part of it. */
u64 npu_time_task(const struct npu_time_law *law, const struct npu_work *work, u32 cores)
{
	u64 macs = (u64)work->rows * work->cols * work->k;
	u32 n = clamp_cores(cores);
	u64 stream, product;

	switch (work->kind) {
	case NPU_KIND_I4:
		return law->i4_task[n - 1] + at_rate(macs, law->i4_rate[n - 1]);
	case NPU_KIND_I4_ROW:
		return at_rate(work->bytes, law->row_rate);
	case NPU_KIND_I8:
		stream = at_rate(work->bytes * n, law->i8_rate[n - 1]);
		product = at_rate(macs, law->i8_macs);
		return stream > product ? stream : product;
	case NPU_KIND_F16:
		stream = at_rate(work->bytes * n, law->f16_rate);
		product = at_rate(macs, law->f16_macs);
		return stream > product ? stream : product;
	default:
		return law->move_task + at_rate(work->bytes, law->move_rate);
	}
}

u32 npu_time_random(u32 *state)
{
	u32 v;

	*state += 0x9e3779b9;
	v = *state;
	v ^= v >> 16;
	v *= 0x85ebca6b;
	v ^= v >> 13;
	v *= 0xc2b2ae35;
	return v ^ v >> 16;
}

u32 npu_time_between(u32 *state, u32 least, u32 most)
{
	u64 span = (u64)npu_max(most, least) - least + 1;

	return least + (u32)(npu_time_random(state) * span >> 32);
}

/*
 * Twelve uniform numbers add up to a normal one of variance 1; of the exponential
 * two terms are enough at a sigma of a few percent.
 */
u64 npu_time_jitter(u32 *state, u64 ns, u32 sigma)
{
	s64 z = -6 * 65536, ppm;
	u32 i;

	for (i = 0; i < 12; i++)
		z += npu_time_random(state) >> 16;
	ppm = z * npu_min(sigma, 300) * 1000 / 65536;
	ppm += 1000000 + ppm * ppm / 2000000;
	return ns / 1000000 * (u64)ppm + ns % 1000000 * (u64)ppm / 1000000;
}
