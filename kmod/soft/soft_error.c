// SPDX-License-Identifier: GPL-2.0-only
/*
 * What did the driver do wrong: counters that tests require to be zero.
 *
 * They live as long as the module, so that an unbind can be judged too.
 */
#define pr_fmt(fmt) "rkmm_soft: " fmt

#include <linux/printk.h>
#include <linux/string.h>

#include "soft.h"

const char * const soft_error_names[SOFT_ERR_COUNT] = {
	"access_while_off",
	"access_in_reset",
	"hanging_read",
	"start_while_busy",
	"start_without_clock",
	"rate_domain_off",
	"rate_without_pclk",
	"off_not_idle_rate",
	"off_while_busy",
	"clock_off_while_busy",
	"left_clock_on",
	"switch_while_busy",
	"switch_while_stuck",
	"iommu_overlap",
	"iommu_range",
	"iommu_left_mapped",
	"view_missing",
	"view_unmapped",
	"law_breach",
};

atomic_t soft_errors[SOFT_ERR_COUNT];

#define SOFT_LAWS_SEEN	64

static DEFINE_SPINLOCK(laws_lock);
static const char *laws_seen[SOFT_LAWS_SEEN];

/* Count an error; the first of its kind is printed. Any context. */
void soft_error(enum soft_error kind, const char *fmt, ...)
{
	struct va_format vaf;
	va_list args;

	if (atomic_inc_return(&soft_errors[kind]) != 1)
		return;
	va_start(args, fmt);
	vaf.fmt = fmt;
	vaf.va = &args;
	pr_err("%s: %pV\n", soft_error_names[kind], &vaf);
	va_end(args);
}

/* A program of the driver broke a law of hw 02 or 03; every law is printed once. */
void soft_law(u32 core, const struct npu_report *report)
{
	unsigned long flags;
	bool seen = true;
	unsigned int i;

	atomic_inc(&soft_errors[SOFT_ERR_LAW_BREACH]);

	spin_lock_irqsave(&laws_lock, flags);
	for (i = 0; i < SOFT_LAWS_SEEN; i++) {
		if (laws_seen[i] && !strcmp(laws_seen[i], report->law))
			break;
		if (!laws_seen[i]) {
			laws_seen[i] = report->law;
			seen = false;
			break;
		}
	}
	spin_unlock_irqrestore(&laws_lock, flags);

	if (!seen)
		pr_warn_ratelimited("core%u task %u: %s (%s)\n", core, report->task,
				    report->law, npu_class_name(report->cls));
}

void soft_error_clear(void)
{
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < SOFT_ERR_COUNT; i++)
		atomic_set(&soft_errors[i], 0);
	spin_lock_irqsave(&laws_lock, flags);
	memset(laws_seen, 0, sizeof(laws_seen));
	spin_unlock_irqrestore(&laws_lock, flags);
}
