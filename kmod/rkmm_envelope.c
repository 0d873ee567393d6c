// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verdicts on geometries of this die: kept here, gone by in PLAN_CREATE and SUBMIT.
 *
 * They come from known-answer jobs alone (rkmm_probe.c), never from what jobs of clients seem
 * to do: a client may scribble on its own operands. Those only raise suspicion, here or by
 * RKMM_PROBE, and one known-answer job of that geometry follows. A plan whose geometry failed
 * is stale from then on: SUBMIT answers ESTALE, and a new plan gets another geometry. Kept
 * submissions (rkmm_warm.c) are dropped once, so that they need not be asked about.
 */
#include <drm/drm_managed.h>
#include <drm/drm_print.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/nvmem-consumer.h>
#include <linux/of.h>
#include <linux/property.h>
#include <linux/slab.h>

#include "rkmm_envelope.h"
#include "rkmm_submit.h"

/* A client may ask for known-answer jobs so often: nothing else runs meanwhile. */
#define RKMM_ASK_EVERY	HZ

static bool suspect = true;
module_param(suspect, bool, 0644);
MODULE_PARM_DESC(suspect,
		 "Run a known-answer job of a geometry that hung twice (default Y)");

static const char *const rkmm_outcomes[] = {
	[RKMM_OUTCOME_NONE] = "not run",
	[RKMM_OUTCOME_RIGHT] = "right",
	[RKMM_OUTCOME_WRONG] = "wrong",
	[RKMM_OUTCOME_SLOW] = "slow",
	[RKMM_OUTCOME_HUNG] = "hung",
};

bool rkmm_trust_lend(struct rkmm_device *rdev, u32 bits, struct rkmm_limits *limits,
		     struct rkmm_envelope_die *own)
{
	struct rkmm_trust *trust = rdev->trust;

	if (!READ_ONCE(trust->table.n))
		return false;
	mutex_lock(&trust->lock);
	rkmm_envelope_die(&trust->table, limits->die, bits, own);
	limits->die = &own->die;
	limits->envelope = &trust->table;
	return true;
}

void rkmm_trust_return(struct rkmm_device *rdev, bool lent)
{
	if (lent)
		mutex_unlock(&rdev->trust->lock);
}

u32 rkmm_trust_failures(struct rkmm_device *rdev)
{
	/* Before the geometry is chosen; pairs with whoever adds to it. */
	return smp_load_acquire(&rdev->trust->failures);
}

void rkmm_trust_check(struct rkmm_device *rdev, struct rkmm_plan *plan)
{
	struct rkmm_trust *trust = rdev->trust;

	if (plan->op)
		return;
	mutex_lock(&trust->lock);
	if (rkmm_envelope_lanes(&trust->table, &plan->geom) < plan->geom.lanes_most)
		WRITE_ONCE(plan->stale, true);
	mutex_unlock(&trust->lock);
}

static void rkmm_trust_check_client(struct rkmm_client *client)
{
	struct rkmm_plan *plan;
	unsigned long i;

	for (i = 0; ; i++) {
		xa_lock(&client->plans);
		plan = xa_find(&client->plans, &i, ULONG_MAX, XA_PRESENT);
		if (plan)
			kref_get(&plan->ref);
		xa_unlock(&client->plans);
		if (!plan)
			break;
		rkmm_trust_check(client->rdev, plan);
		rkmm_plan_put(plan);
		cond_resched();
	}
	rkmm_warm_forget(client, NULL, 0);
}

/* Something failed: plans of everybody may be stale. trust.run held, so one at a time. */
static void rkmm_trust_spread(struct rkmm_device *rdev)
{
	struct rkmm_sched *sched = &rdev->sched;
	struct rkmm_client *client, *found;
	u64 past = 0;

	/* Files are listed in the order of their numbers. */
	do {
		found = NULL;
		spin_lock_irq(&sched->lock);
		list_for_each_entry(client, &sched->clients, in_clients)
			if (client->id > past && (!found || client->id < found->id))
				found = client;
		if (found)
			rkmm_client_get(found);
		spin_unlock_irq(&sched->lock);
		if (found) {
			past = found->id;
			rkmm_trust_check_client(found);
			rkmm_client_put(found);
		}
	} while (found);
}

/* trust.run held */
static void rkmm_trust_note(struct rkmm_device *rdev, const struct rkmm_cell *cell,
			    const struct rkmm_trial *trial)
{
	struct rkmm_trust *trust = rdev->trust;
	bool failed = trial->outcome != RKMM_OUTCOME_RIGHT, kept;

	mutex_lock(&trust->lock);
	kept = rkmm_envelope_set(&trust->table, cell, failed ? RKMM_FAILED : RKMM_PROVEN);
	/* Behind the verdict; pairs with rkmm_trust_failures(). */
	smp_store_release(&trust->failures, trust->failures + failed);
	mutex_unlock(&trust->lock);
	if (!kept)
		dev_warn_once(rdev->dev, "envelope: full\n");
	if (!failed)
		return;
	dev_notice(rdev->dev,
		   "envelope: bits=%u form=%s k=%u rows=%u cols=%u banks=%u cores=%u outcome=%s wrong=%u us=%llu predicted_us=%llu: not used any more\n",
		   cell->bits, rkmm_form_name(cell->form), cell->k, cell->rows, cell->cols,
		   cell->data_banks, cell->cores, rkmm_outcomes[trial->outcome], trial->wrong,
		   div_u64(trial->ns, NSEC_PER_USEC), div_u64(trial->predicted_ns, NSEC_PER_USEC));
	rkmm_trust_spread(rdev);
}

/* One known-answer job. trust.run held. */
static int rkmm_trust_try(struct rkmm_device *rdev, const struct rkmm_cell *cell, u32 kp,
			  struct rkmm_trial *trial)
{
	int ret = rdev->trust->gone ? -ENODEV : rkmm_probe_run(rdev, cell, kp, trial);

	/* Stalls by chance are known (hw 03 §1.1): what fails has to fail twice. */
	if (!ret && trial->outcome != RKMM_OUTCOME_RIGHT)
		ret = rkmm_probe_run(rdev, cell, kp, trial);
	return ret;
}

/*
 * A plan under suspicion: first on one core, as what fails there is not tried on several (hw 03
 * §4.6), then on as many as it has lanes. @cell: the last one tried. trust.run held.
 */
static int rkmm_trust_try_plan(struct rkmm_device *rdev, const struct rkmm_plan *plan,
			       struct rkmm_cell *cell, struct rkmm_trial *trial)
{
	u32 lanes;
	int ret;

	for (lanes = 1; ; lanes = plan->geom.lanes) {
		*cell = rkmm_cell_of(&plan->geom, lanes);
		ret = rkmm_trust_try(rdev, cell, plan->geom.kp, trial);
		/* Time is that of whoever asks, too: it bars no geometry for others. */
		if (!ret && trial->outcome != RKMM_OUTCOME_SLOW)
			rkmm_trust_note(rdev, cell, trial);
		if (ret || trial->outcome != RKMM_OUTCOME_RIGHT || lanes == plan->geom.lanes)
			return ret;
	}
}

/* ---- suspicion ----------------------------------------------------------------------- */

void rkmm_trust_suspect(struct rkmm_client *client, u64 plan)
{
	struct rkmm_trust *trust = client->rdev->trust;
	unsigned long flags;
	u32 i;

	if (!READ_ONCE(suspect))
		return;
	spin_lock_irqsave(&trust->suspects_lock, flags);
	for (i = 0; i < trust->nsuspects; i++)
		if (trust->suspect[i].client == client && trust->suspect[i].plan == plan)
			break;
	/* Who does not fit in will be suspected again. */
	if (i == trust->nsuspects && i < RKMM_SUSPECTS) {
		rkmm_client_get(client);
		trust->suspect[i].client = client;
		trust->suspect[i].plan = plan;
		trust->nsuspects++;
		queue_work(system_freezable_wq, &trust->work);
	}
	spin_unlock_irqrestore(&trust->suspects_lock, flags);
}

static struct rkmm_client *rkmm_trust_next(struct rkmm_trust *trust, u64 *plan)
{
	struct rkmm_client *client = NULL;

	spin_lock_irq(&trust->suspects_lock);
	if (trust->nsuspects) {
		trust->nsuspects--;
		client = trust->suspect[trust->nsuspects].client;
		*plan = trust->suspect[trust->nsuspects].plan;
	}
	spin_unlock_irq(&trust->suspects_lock);
	return client;
}

/* Handles are the user's; what a job knows of its plan is the number that is never reused. */
static struct rkmm_plan *rkmm_trust_find(struct rkmm_client *client, u64 uid)
{
	struct rkmm_plan *plan;
	unsigned long i;

	xa_lock(&client->plans);
	xa_for_each(&client->plans, i, plan)
		if (plan->uid == uid) {
			kref_get(&plan->ref);
			break;
		}
	xa_unlock(&client->plans);
	return plan;
}

static void rkmm_trust_work(struct work_struct *work)
{
	struct rkmm_trust *trust = container_of(work, struct rkmm_trust, work);
	struct rkmm_client *client;
	struct rkmm_trial trial;
	struct rkmm_plan *plan;
	struct rkmm_cell cell;
	u64 uid;

	while ((client = rkmm_trust_next(trust, &uid))) {
		plan = rkmm_trust_find(client, uid);
		mutex_lock(&trust->run);
		if (plan && !plan->op && !READ_ONCE(plan->stale))
			rkmm_trust_try_plan(client->rdev, plan, &cell, &trial);
		mutex_unlock(&trust->run);
		if (plan)
			rkmm_plan_put(plan);
		rkmm_client_put(client);
	}
}

/* ---- RKMM_PROBE ------------------------------------------------------------------------ */

static_assert((int)RKMM_UNKNOWN == DRM_RKMM_VERDICT_UNKNOWN);
static_assert((int)RKMM_PROVEN == DRM_RKMM_VERDICT_PROVEN);
static_assert((int)RKMM_FAILED == DRM_RKMM_VERDICT_FAILED);
static_assert((int)RKMM_OUTCOME_NONE == DRM_RKMM_OUTCOME_NONE);
static_assert((int)RKMM_OUTCOME_RIGHT == DRM_RKMM_OUTCOME_RIGHT);
static_assert((int)RKMM_OUTCOME_WRONG == DRM_RKMM_OUTCOME_WRONG);
static_assert((int)RKMM_OUTCOME_SLOW == DRM_RKMM_OUTCOME_SLOW);
static_assert((int)RKMM_OUTCOME_HUNG == DRM_RKMM_OUTCOME_HUNG);

static void rkmm_trust_answer(struct rkmm_device *rdev, const struct rkmm_cell *cell,
			      const struct rkmm_trial *trial, struct drm_rkmm_probe *args)
{
	struct rkmm_trust *trust = rdev->trust;

	args->bits = cell->bits;
	args->form = cell->form == RKMM_FORM_FLAT ? DRM_RKMM_FORM_FLAT :
		     cell->form == RKMM_FORM_BATCH ? DRM_RKMM_FORM_BATCH : DRM_RKMM_FORM_CUBE;
	args->k = cell->k;
	args->rows = cell->rows;
	args->cols = cell->cols;
	args->data_banks = cell->data_banks;
	args->cores = cell->cores;
	args->outcome = trial->outcome;
	args->wrong = trial->wrong;
	args->pad2 = 0;
	args->ns = trial->ns;
	args->predicted_ns = trial->predicted_ns;
	mutex_lock(&trust->lock);
	args->verdict = rkmm_envelope_get(&trust->table, cell);
	mutex_unlock(&trust->lock);
}

static int rkmm_probe_point(struct rkmm_device *rdev, struct drm_rkmm_probe *args)
{
	struct rkmm_trial trial = {};
	struct rkmm_point point;
	int ret = 0;

	if (!capable(CAP_SYS_ADMIN))
		return -EACCES;
	if (!rkmm_envelope_point(rdev->soc->limits, rdev->ncores, args->index, &point))
		return -ENOENT;
	if (args->flags & DRM_RKMM_PROBE_RUN) {
		if (mutex_lock_interruptible(&rdev->trust->run))
			return -EINTR;
		ret = rkmm_trust_try(rdev, &point.cell, point.kp, &trial);
		if (!ret)
			rkmm_trust_note(rdev, &point.cell, &trial);
		mutex_unlock(&rdev->trust->run);
	}
	if (ret)
		return ret;
	args->group = point.group;
	rkmm_trust_answer(rdev, &point.cell, &trial, args);
	return 0;
}

static int rkmm_probe_plan(struct rkmm_client *client, struct drm_rkmm_probe *args)
{
	struct rkmm_plan *plan = rkmm_plan_get(client, args->plan);
	struct rkmm_trust *trust = client->rdev->trust;
	struct rkmm_trial trial = {};
	struct rkmm_cell cell;
	int ret = 0;

	if (!plan)
		return -ENOENT;
	if (plan->op) {
		rkmm_plan_put(plan);
		return -EOPNOTSUPP;
	}
	cell = rkmm_cell_of(&plan->geom, plan->geom.lanes);
	if (args->flags & DRM_RKMM_PROBE_RUN && !READ_ONCE(plan->stale)) {
		if (mutex_lock_interruptible(&trust->run)) {
			rkmm_plan_put(plan);
			return -EINTR;
		}
		if (time_after_eq(jiffies, trust->asked + RKMM_ASK_EVERY)) {
			ret = rkmm_trust_try_plan(client->rdev, plan, &cell, &trial);
			trust->asked = jiffies;
		}
		mutex_unlock(&trust->run);
	}
	args->group = 0;
	if (!ret)
		rkmm_trust_answer(client->rdev, &cell, &trial, args);
	rkmm_plan_put(plan);
	return ret;
}

int rkmm_ioctl_probe(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct rkmm_client *client = file->driver_priv;
	struct drm_rkmm_probe *args = data;
	bool plan = args->flags & DRM_RKMM_PROBE_PLAN;
	int ret;

	if (args->flags & ~(DRM_RKMM_PROBE_RUN | DRM_RKMM_PROBE_PLAN) || args->pad ||
	    (plan ? args->index : args->plan)) {
		drm_dbg(drm, "probe: malformed arguments\n");
		return -EINVAL;
	}
	if (READ_ONCE(client->banned))
		return -EPERM;
	ret = plan ? rkmm_probe_plan(client, args) : rkmm_probe_point(client->rdev, args);
	if (ret)
		drm_dbg(drm, "probe: %d\n", ret);
	return ret;
}

/* ---- export and import ------------------------------------------------------------------- */

ssize_t rkmm_trust_export(struct rkmm_device *rdev, char *buf, loff_t at, size_t count)
{
	struct rkmm_trust *trust = rdev->trust;
	u8 *text = kmalloc(RKMM_ENVELOPE_BYTES, GFP_KERNEL);
	ssize_t ret;

	if (!text)
		return -ENOMEM;
	mutex_lock(&trust->lock);
	ret = memory_read_from_buffer(buf, count, &at, text,
				      rkmm_envelope_write(&trust->table, trust->chip, text));
	mutex_unlock(&trust->lock);
	kfree(text);
	return ret;
}

ssize_t rkmm_trust_import(struct rkmm_device *rdev, const char *buf, loff_t at, size_t count)
{
	struct rkmm_trust *trust = rdev->trust;
	enum rkmm_import why;
	u32 i;

	/* One write has all of it. */
	why = at ? RKMM_IMPORT_SHORT : RKMM_IMPORT_OK;
	mutex_lock(&trust->run);
	mutex_lock(&trust->lock);
	if (!why)
		why = rkmm_envelope_read((const u8 *)buf, count, trust->chip, &trust->next);
	if (!why) {
		WRITE_ONCE(trust->table.n, 0);
		for (i = 0; i < trust->next.n; i++) {
			trust->table.key[i] = trust->next.key[i];
			trust->table.verdict[i] = trust->next.verdict[i];
		}
		WRITE_ONCE(trust->table.n, trust->next.n);
		/* Behind the verdicts; pairs with rkmm_trust_failures(). */
		smp_store_release(&trust->failures, trust->failures + 1);
	}
	mutex_unlock(&trust->lock);
	if (!why)
		rkmm_trust_spread(rdev);
	mutex_unlock(&trust->run);
	if (why) {
		dev_warn_ratelimited(rdev->dev, "envelope: not imported: %s\n",
				     rkmm_import_text(why));
		return -EINVAL;
	}
	return count;
}

/* ---- beginning and end ------------------------------------------------------------------- */

/* What tells this chip from others: fuses where the node names them, else the board's number */
static int rkmm_trust_identify(struct rkmm_device *rdev)
{
	struct rkmm_trust *trust = rdev->trust;
	struct device_node *root = NULL;
	struct nvmem_cell *cell;
	const char *text = NULL;
	size_t len = 0;
	u64 soft = 0;
	u8 *id;

	trust->chip = rkmm_envelope_hash(0, rdev->soc->name, strlen(rdev->soc->name));
	if (rdev->dev->of_node &&
	    of_property_match_string(rdev->dev->of_node, "nvmem-cell-names", "id") >= 0) {
		cell = nvmem_cell_get(rdev->dev, "id");
		if (IS_ERR(cell))
			return dev_err_probe(rdev->dev, PTR_ERR(cell), "nvmem cell \"id\"\n");
		id = nvmem_cell_read(cell, &len);
		nvmem_cell_put(cell);
		if (IS_ERR(id))
			return dev_err_probe(rdev->dev, PTR_ERR(id), "nvmem cell \"id\"\n");
		trust->chip = rkmm_envelope_hash(trust->chip, id, len);
		trust->bound = true;
		kfree(id);
		return 0;
	}
	if (rdev->soft) {
		trust->bound = !device_property_read_u64(rdev->dev, "rkmm,chip-id", &soft);
		trust->chip = rkmm_envelope_hash(trust->chip, &soft, sizeof(soft));
		return 0;
	}
	root = of_find_node_by_path("/");
	if (root && !of_property_read_string(root, "serial-number", &text)) {
		trust->chip = rkmm_envelope_hash(trust->chip, text, strlen(text));
		trust->bound = true;
	}
	of_node_put(root);
	return 0;
}

int rkmm_trust_init(struct rkmm_device *rdev)
{
	struct rkmm_trust *trust = drmm_kzalloc(rdev->drm, sizeof(*trust), GFP_KERNEL);

	if (!trust)
		return -ENOMEM;
	rdev->trust = trust;
	mutex_init(&trust->lock);
	mutex_init(&trust->run);
	spin_lock_init(&trust->suspects_lock);
	INIT_WORK(&trust->work, rkmm_trust_work);
	trust->asked = jiffies - RKMM_ASK_EVERY;
	return rkmm_trust_identify(rdev);
}

void rkmm_trust_stop(struct rkmm_device *rdev)
{
	struct rkmm_trust *trust = rdev->trust;

	/* Whoever runs one finds the device dead, and ends. */
	mutex_lock(&trust->run);
	trust->gone = true;
	rkmm_probe_free(trust->left);
	trust->left = NULL;
	mutex_unlock(&trust->run);
	/* What it still has it only puts. */
	flush_work(&trust->work);
}
