// SPDX-License-Identifier: GPL-2.0-only
/* Plans: a validated operation, shape only. */
#include <drm/drm_print.h>
#include <linux/atomic.h>
#include <linux/math64.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

#include "rkmm_drm.h"
#include "rkmm_envelope.h"
#include "rkmm_job.h"
#include "rkmm_trace.h"

/* The pure code has enumerations of its own; here they are held to the uAPI's. */
static_assert((int)RKMM_T_I8I32 == DRM_RKMM_I8I32);
static_assert((int)RKMM_T_I8I8 == DRM_RKMM_I8I8);
static_assert((int)RKMM_T_F16F32 == DRM_RKMM_F16F32);
static_assert((int)RKMM_T_F16F16 == DRM_RKMM_F16F16);
static_assert((int)RKMM_T_I4I16 == DRM_RKMM_I4I16);
static_assert((int)RKMM_OK == DRM_RKMM_REASON_NONE);
static_assert((int)RKMM_REASON_TYPES == DRM_RKMM_REASON_TYPES);
static_assert((int)RKMM_REASON_ZERO == DRM_RKMM_REASON_ZERO);
static_assert((int)RKMM_REASON_K_LIMIT == DRM_RKMM_REASON_K_LIMIT);
static_assert((int)RKMM_REASON_N_LIMIT == DRM_RKMM_REASON_N_LIMIT);
static_assert((int)RKMM_REASON_M_LIMIT == DRM_RKMM_REASON_M_LIMIT);
static_assert((int)RKMM_REASON_STRIDE == DRM_RKMM_REASON_STRIDE);
static_assert((int)RKMM_REASON_BANKS == DRM_RKMM_REASON_BANKS);
static_assert((int)RKMM_REASON_LAYOUT == DRM_RKMM_REASON_LAYOUT);
static_assert((int)RKMM_REASON_SIZE == DRM_RKMM_REASON_SIZE);
static_assert((int)RKMM_REASON_FORM == DRM_RKMM_REASON_FORM);
static_assert((int)RKMM_REASON_QUANT == DRM_RKMM_REASON_QUANT);
static_assert((int)RKMM_REASON_OPERATION == DRM_RKMM_REASON_OPERATION);
static_assert((int)RKMM_REASON_PARAM == DRM_RKMM_REASON_PARAM);
static_assert((int)RKMM_REASON_READ_BACK == DRM_RKMM_REASON_READ_BACK);

static char *die_name = "auto";
static bool rkmm_plans_checked;

static const struct rkmm_die *rkmm_plan_find_die(const char *name, bool soft)
{
	u32 i;

	/* The wide tilings of "default" were measured on one die only (hw 02 §6.3). */
	if (sysfs_streq(name, "auto"))
		name = soft ? "default" : "shipped";
	for (i = 0; i < RKMM_DIES; i++)
		if (sysfs_streq(name, rkmm_dies[i].name))
			return &rkmm_dies[i];
	return NULL;
}

static int rkmm_plan_set_die(const char *name, const struct kernel_param *kp)
{
	/* What the module is loaded with is judged by probe, with a line in the log. */
	if (rkmm_plans_checked && !rkmm_plan_find_die(name, true))
		return -EINVAL;
	return param_set_charp(name, kp);
}

static const struct kernel_param_ops rkmm_plan_die_ops = {
	.set = rkmm_plan_set_die,
	.get = param_get_charp,
	.free = param_free_charp,
};

/* Later changes are for plans made from then on. */
module_param_cb(die, &rkmm_plan_die_ops, &die_name, 0644);
MODULE_PARM_DESC(die,
		 "Envelope of the die: default, 235, 236, shipped (the published tables), or auto: shipped on silicon, where nobody knows the die yet");

static char *derived_mode = "auto";
module_param_named(derived, derived_mode, charp, 0444);
MODULE_PARM_DESC(derived,
		 "Program forms that no working board was seen to run: on, off, or auto (default: off on silicon, on with the software NPU)");

static char *form_name = "auto";
module_param_named(form, form_name, charp, 0444);
MODULE_PARM_DESC(form, "Form of plans that ask for none: auto, flat, batch (int4 only) or cube");

static void rkmm_plan_release(struct rkmm_plan *plan)
{
	kvfree(plan->epi);
	kvfree(plan->op);
	kfree(plan);
}

static void rkmm_plan_free(struct kref *ref)
{
	rkmm_plan_release(container_of(ref, struct rkmm_plan, ref));
}

void rkmm_plan_put(struct rkmm_plan *plan)
{
	kref_put(&plan->ref, rkmm_plan_free);
}

struct rkmm_plan *rkmm_plan_get(struct rkmm_client *client, u32 handle)
{
	struct rkmm_plan *plan;

	xa_lock(&client->plans);
	plan = xa_load(&client->plans, handle);
	if (plan)
		kref_get(&plan->ref);
	xa_unlock(&client->plans);
	return plan;
}

void rkmm_plan_tensor(const struct rkmm_operand *op, struct drm_rkmm_tensor *t)
{
	memset(t, 0, sizeof(*t));
	t->size = op->size;
	t->layout_id = op->layout_id;
	t->layout = op->layout;
	t->rows = op->rows;
	t->cols = op->cols;
	t->pitch = op->pitch;
	t->group = op->group;
	t->tile_rows = op->tile_rows;
	t->tile_cols = op->tile_cols;
	t->bits = op->bits;
	t->slices = op->slices;
	t->slice = op->slice;
	t->slice_stride = op->slice_stride;
}

static void rkmm_plan_tensors(const struct rkmm_geom *geom, struct drm_rkmm_plan_create *args)
{
	struct rkmm_operand op;

	rkmm_geom_a(geom, &op);
	rkmm_plan_tensor(&op, &args->a);
	rkmm_geom_b(geom, &op);
	rkmm_plan_tensor(&op, &args->b);
	rkmm_geom_c(geom, &op);
	rkmm_plan_tensor(&op, &args->c);
}

void rkmm_plan_sizes(const struct rkmm_plan *plan, u64 sizes[RKMM_OPERANDS])
{
	const struct rkmm_epilogue *epi = plan->epi;
	const struct rkmm_opgeom *op = plan->op;

	sizes[0] = op ? op->a.size : plan->geom.a_bytes;
	sizes[1] = op ? op->b.size : plan->geom.b_bytes;
	sizes[2] = op ? op->c.size : epi ? epi->c.size : plan->geom.c_bytes;
	sizes[3] = op ? op->d.size : epi ? epi->operand[0].size : 0;
	sizes[4] = epi ? epi->operand[1].size : 0;
}

enum rkmm_mode rkmm_plan_mode(const struct rkmm_plan *plan)
{
	if (!plan->op)
		return rkmm_mode_of(plan->geom.types);
	return plan->op->nmatmuls ? rkmm_mode_of(plan->op->matmul[0].types) : RKMM_MODE_DPU;
}

u64 rkmm_plan_image_bytes(const struct rkmm_plan *plan)
{
	const struct rkmm_opgeom *op = plan->op;

	if (plan->epi)
		return rkmm_epilogue_image_bytes(plan->epi, &plan->geom);
	return op ? rkmm_op_image_bytes(op) + op->const_bytes + op->temp_bytes :
		    rkmm_image_bytes(&plan->geom);
}

static u32 rkmm_plan_out_flags(const struct rkmm_geom *geom)
{
	return (geom->slices > 1 ? DRM_RKMM_PLAN_HOST_FINISH : 0) |
	       (geom->may_saturate ? DRM_RKMM_PLAN_MAY_SATURATE : 0);
}

/*
 * int8 output: one source ships it, another never saw it end (hw 02 §9). The
 * int4 cube is known from notes only (hw 02 §6.2); everything else equals
 * programs of boards that work (hw 02 §2, §8).
 */
u32 rkmm_plan_evidence(enum rkmm_types types, enum rkmm_form form)
{
	if (types == RKMM_T_I8I8 || (types == RKMM_T_I4I16 && form == RKMM_FORM_CUBE))
		return DRM_RKMM_DERIVED;
	return DRM_RKMM_CAPTURED;
}

bool rkmm_plan_derived(struct rkmm_device *rdev)
{
	return sysfs_streq(derived_mode, "auto") ? rdev->soft : sysfs_streq(derived_mode, "on");
}

static int rkmm_plan_refuse(struct drm_device *drm, struct drm_rkmm_plan_create *args,
			    enum rkmm_reason reason)
{
	drm_dbg(drm, "plan types %u %ux%ux%u refused: %s\n", args->types, args->m, args->k,
		args->n, rkmm_reason_text(reason));
	args->reason = reason;
	return -EOPNOTSUPP;
}

static const enum rkmm_form rkmm_plan_forms[] = {
	[DRM_RKMM_FORM_AUTO] = RKMM_FORM_COUNT,
	[DRM_RKMM_FORM_FLAT] = RKMM_FORM_FLAT,
	[DRM_RKMM_FORM_BATCH] = RKMM_FORM_BATCH,
	[DRM_RKMM_FORM_CUBE] = RKMM_FORM_CUBE,
};

static enum rkmm_form rkmm_plan_auto_form(struct rkmm_device *rdev, const struct rkmm_matmul *mm)
{
	if (sysfs_streq(form_name, "flat"))
		return RKMM_FORM_FLAT;
	if (sysfs_streq(form_name, "batch") && mm->types == RKMM_T_I4I16)
		return RKMM_FORM_BATCH;
	if (sysfs_streq(form_name, "cube") && !mm->a_pitch && !mm->c_pitch &&
	    (rkmm_plan_derived(rdev) ||
	     rkmm_plan_evidence(mm->types, RKMM_FORM_CUBE) > DRM_RKMM_DERIVED))
		return RKMM_FORM_CUBE;
	return RKMM_FORM_COUNT;
}

static const struct rkmm_die *rkmm_plan_die(bool soft)
{
	const struct rkmm_die *die;

	kernel_param_lock(THIS_MODULE);
	die = rkmm_plan_find_die(die_name, soft);
	kernel_param_unlock(THIS_MODULE);
	return die;
}

int rkmm_plans_check(struct device *dev)
{
	if (!rkmm_plan_die(true)) {
		dev_err(dev, "die=%s: unknown profile\n", die_name);
		return -EINVAL;
	}
	rkmm_plans_checked = true;
	if (!sysfs_streq(form_name, "auto") && !sysfs_streq(form_name, "flat") &&
	    !sysfs_streq(form_name, "batch") && !sysfs_streq(form_name, "cube")) {
		dev_err(dev, "form=%s: unknown form\n", form_name);
		return -EINVAL;
	}
	if (!sysfs_streq(derived_mode, "auto") && !sysfs_streq(derived_mode, "on") &&
	    !sysfs_streq(derived_mode, "off")) {
		dev_err(dev, "derived=%s: not understood\n", derived_mode);
		return -EINVAL;
	}
	return 0;
}

static enum rkmm_reason rkmm_plan_geometry(struct rkmm_device *rdev, struct rkmm_matmul *mm,
					   struct rkmm_plan *plan)
{
	struct rkmm_geom *geom = &plan->geom;
	struct rkmm_limits limits = *rdev->soc->limits;
	bool any = mm->form == RKMM_FORM_COUNT, lent;
	struct rkmm_envelope_die own;
	enum rkmm_reason reason;

	limits.die = rkmm_plan_die(rdev->soft);
	plan->failures = rkmm_trust_failures(rdev);
	lent = rkmm_trust_lend(rdev, rkmm_in_bits(mm->types), &limits, &own);
	if (any)
		mm->form = rkmm_plan_auto_form(rdev, mm);
	reason = rkmm_geometry(&limits, mm, geom);
	/* The parameter is a preference: not every shape has every form. */
	if (reason == RKMM_REASON_FORM && any) {
		mm->form = RKMM_FORM_COUNT;
		reason = rkmm_geometry(&limits, mm, geom);
	}
	if (reason == RKMM_OK && (!rkmm_geom_fallback(&limits, geom, &plan->fallback) ||
				  rkmm_image_bytes(&plan->fallback) > RKMM_IMAGE_MAX_BYTES ||
				  (lent && rkmm_envelope_lanes(limits.envelope, &plan->fallback) <
					   plan->fallback.lanes_most)))
		plan->fallback.programs = 0;
	rkmm_trust_return(rdev, lent);
	return reason;
}

/* What only operations that are no matmuls have */
static bool rkmm_plan_plain(const struct drm_rkmm_plan_create *args)
{
	return !(args->other | args->op_flags | args->value | args->value2 | args->scale |
		 args->out_scale | args->za | args->zb | args->sb | args->sb_shift | args->width |
		 args->kernel_w | args->kernel_h | args->stride_w | args->stride_h);
}

static int rkmm_plan_make_matmul(struct rkmm_device *rdev, struct drm_rkmm_plan_create *args,
				 struct rkmm_plan *plan)
{
	struct rkmm_matmul mm = {
		.types = args->types,
		.form = rkmm_plan_forms[args->form],
		.m = args->m,
		.k = args->k,
		.n = args->n,
		.a_pitch = args->a_pitch,
		.c_pitch = args->c_pitch,
		.mult = args->mult,
		.shift = args->shift,
		.offset = args->offset,
		.lanes = hweight32(args->cores ?: rdev->all_cores),
		.slice = rkmm_layout_slice(args->b_layout),
		.free_slice = args->flags & DRM_RKMM_PLAN_FREE_SLICES,
	};
	struct rkmm_stages stages;
	int ret;

	ret = rkmm_plan_stages(args, &stages);
	if (!ret)
		ret = rkmm_plan_epi_make(&stages, &mm, plan);
	if (!ret)
		ret = rkmm_plan_geometry(rdev, &mm, plan);
	if (!ret && args->b_layout && args->b_layout != plan->geom.b_layout)
		ret = RKMM_REASON_LAYOUT;
	if (ret)
		return ret;
	rkmm_plan_tensors(&plan->geom, args);
	memset(&args->d, 0, sizeof(args->d));
	args->evidence = rkmm_plan_evidence(plan->geom.mm.types, plan->geom.form);
	args->out_flags = rkmm_plan_out_flags(&plan->geom);
	args->programs = plan->geom.programs;
	args->predicted_ns = plan->geom.predicted_ns;
	ret = rkmm_plan_epi_bind(rdev->soc->limits, &stages, args, plan);
	if (!ret && args->evidence == DRM_RKMM_DERIVED && !rkmm_plan_derived(rdev)) {
		if (plan->epi)
			plan->epi->refused = plan->epi->weakest;
		ret = RKMM_REASON_FORM;
	}
	return ret;
}

static int rkmm_plan_make(struct rkmm_device *rdev, struct drm_rkmm_plan_create *args,
			  struct rkmm_plan *plan)
{
	int ret;

	memset(&args->e, 0, sizeof(args->e));
	args->fused = 0;
	args->stage = 0;
	if (args->kind != DRM_RKMM_OP_MATMUL)
		ret = rkmm_plan_make_op(rdev, args, rkmm_plan_derived(rdev), plan);
	else if (rkmm_plan_plain(args))
		ret = rkmm_plan_make_matmul(rdev, args, plan);
	else
		ret = -EINVAL;
	if (ret == RKMM_OK && rkmm_plan_image_bytes(plan) > RKMM_IMAGE_MAX_BYTES)
		ret = RKMM_REASON_SIZE;
	if (ret > 0 && plan->epi)
		args->stage = plan->epi->refused;
	return ret;
}

int rkmm_ioctl_plan_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	static atomic64_t uids = ATOMIC64_INIT(0);
	struct rkmm_client *client = file->driver_priv;
	struct rkmm_device *rdev = client->rdev;
	struct drm_rkmm_plan_create *args = data;
	struct rkmm_plan *plan;
	u64 hz;
	int ret;

	if (args->flags & ~DRM_RKMM_PLAN_FREE_SLICES || args->pad) {
		drm_dbg(drm, "plan: unknown flags or padding\n");
		return -EINVAL;
	}
	if (args->form >= ARRAY_SIZE(rkmm_plan_forms)) {
		drm_dbg(drm, "plan: unknown form %u\n", args->form);
		return -EINVAL;
	}
	if (args->cores & ~rdev->all_cores) {
		drm_dbg(drm, "plan: no such core in %#x\n", args->cores);
		return -EINVAL;
	}

	plan = kzalloc(sizeof(*plan), GFP_KERNEL_ACCOUNT);
	if (!plan)
		return -ENOMEM;
	kref_init(&plan->ref);
	plan->cores = args->cores ?: rdev->all_cores;
	ret = rkmm_plan_make(rdev, args, plan);
	if (ret) {
		rkmm_plan_release(plan);
		if (ret > 0)
			return rkmm_plan_refuse(drm, args, ret);
		drm_dbg(drm, "plan: kind %u: %d\n", args->kind, ret);
		return ret;
	}
	args->reason = DRM_RKMM_REASON_NONE;
	/* The cost law is stated at 1 GHz. */
	hz = max(rkmm_power_rate(rdev), 1000000ul);
	args->predicted_ns = mul_u64_u64_div_u64(args->predicted_ns, NSEC_PER_SEC, hz);

	plan->uid = atomic64_inc_return(&uids);
	if (!plan->op)
		trace_rkmm_plan(client, plan);
	kref_get(&plan->ref);
	ret = xa_alloc(&client->plans, &args->plan, plan, xa_limit_32b, GFP_KERNEL_ACCOUNT);
	/* Who looks through the plans may not have seen this one yet. */
	if (!ret && rkmm_trust_failures(rdev) != plan->failures)
		rkmm_trust_check(rdev, plan);
	if (ret)
		rkmm_plan_put(plan);
	rkmm_plan_put(plan);
	return ret;
}

int rkmm_ioctl_plan_destroy(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct rkmm_client *client = file->driver_priv;
	struct drm_rkmm_plan_destroy *args = data;
	struct rkmm_plan *plan;

	if (args->pad) {
		drm_dbg(drm, "plan destroy: padding\n");
		return -EINVAL;
	}
	plan = xa_erase(&client->plans, args->plan);
	if (!plan) {
		drm_dbg(drm, "no plan %u\n", args->plan);
		return -ENOENT;
	}
	rkmm_warm_forget(client, NULL, args->plan);
	rkmm_images_drop_plan(client, plan->uid);
	rkmm_plan_put(plan);
	return 0;
}

void rkmm_plans_init(struct rkmm_client *client)
{
	xa_init_flags(&client->plans, XA_FLAGS_ALLOC1);
}

void rkmm_plans_fini(struct rkmm_client *client)
{
	struct rkmm_plan *plan;
	unsigned long i;

	/* Whoever spreads a verdict may still look (rkmm_envelope.c). */
	xa_for_each(&client->plans, i, plan) {
		xa_erase(&client->plans, i);
		rkmm_plan_put(plan);
	}
	xa_destroy(&client->plans);
}
