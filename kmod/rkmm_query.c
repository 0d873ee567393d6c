// SPDX-License-Identifier: GPL-2.0-only
/* QUERY: facts about the device and the asking client; CLIENT_SET. */
#include <drm/drm_drv.h>
#include <drm/drm_print.h>
#include <linux/capability.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "prog/rkmm_op_facts.h"
#include "rkmm_drm.h"
#include "rkmm_job.h"

static_assert((int)RKMM_ERROR_NONE == DRM_RKMM_ERROR_NONE);
static_assert((int)RKMM_ERROR_STEPS == DRM_RKMM_ERROR_STEPS);
static_assert((int)RKMM_ERROR_RANGE == DRM_RKMM_ERROR_RANGE);
static_assert((int)RKMM_PRIORITY_NORMAL == DRM_RKMM_PRIORITY_NORMAL);
static_assert((int)RKMM_PRIORITY_LOW == DRM_RKMM_PRIORITY_LOW);
static_assert((int)RKMM_PRIORITY_HIGH == DRM_RKMM_PRIORITY_HIGH);

static void rkmm_query_device(struct rkmm_device *rdev, struct drm_rkmm_device_info *info)
{
	u32 i;

	strscpy(info->chip, rdev->soc->name, sizeof(info->chip));
	info->version = RKMM_VERSION_MAJOR << 16 | RKMM_VERSION_MINOR;
	if (rdev->soft)
		info->flags |= DRM_RKMM_DEVICE_SOFT;
	if (rdev->vm.strict)
		info->flags |= DRM_RKMM_DEVICE_STRICT;
	if (!rdev->soc->validated && !rdev->soft)
		info->flags |= DRM_RKMM_DEVICE_UNVALIDATED;
	info->cores = rdev->ncores;
	info->hw_version = rdev->hw_version;
	info->clock_hz = rkmm_power_rate(rdev);
	info->clock_max_hz = rdev->soc->max_hz;
	info->window_bytes = rdev->vm.bytes;

	spin_lock_irq(&rdev->sched.lock);
	for (i = 0; i < rdev->ncores; i++)
		if (rdev->cores[i].state != RKMM_CORE_OFF)
			info->core_mask |= BIT(rdev->cores[i].index);
	info->resets = rdev->sched.resets;
	info->jobs = rdev->sched.jobs;
	spin_unlock_irq(&rdev->sched.lock);
}

static void rkmm_query_types(struct drm_rkmm_type_info *info)
{
	u32 t;

	for (t = 0; t < RKMM_T_COUNT; t++) {
		info[t].types = t;
		info[t].evidence = rkmm_plan_evidence(t, RKMM_FORM_FLAT);
		info[t].in_bits = rkmm_in_bits(t);
		info[t].out_bits = 8 * rkmm_out_bytes(t);
		info[t].k_align = RKMM_K_ALIGN;
		info[t].n_align = rkmm_group(t);
	}
}

static void rkmm_query_client(struct rkmm_client *client, struct drm_rkmm_client_info *info)
{
	struct rkmm_sched *sched = &client->rdev->sched;

	spin_lock_irq(&sched->lock);
	info->jobs = client->jobs;
	info->guilty = client->guilty;
	info->innocent = client->innocent;
	info->npu_ns = client->npu_ns;
	info->banned = client->banned;
	info->priority = client->candidate.priority;
	spin_unlock_irq(&sched->lock);

	mutex_lock(&client->images->lock);
	info->program_bytes = client->images->bytes;
	info->programs_emitted = client->images->emitted;
	mutex_unlock(&client->images->lock);
}

static u32 rkmm_query_element(enum rkmm_precision precision)
{
	switch (precision) {
	case RKMM_PREC_I8:
		return DRM_RKMM_I8;
	case RKMM_PREC_I16:
		return DRM_RKMM_I16;
	default:
		return DRM_RKMM_F16;
	}
}

/* Matmuls that are no more than derived themselves */
static u32 rkmm_query_unsure(void)
{
	u32 t, mask = 0;

	for (t = 0; t < RKMM_T_COUNT; t++)
		if (rkmm_plan_evidence(t, RKMM_FORM_FLAT) == DRM_RKMM_DERIVED)
			mask |= BIT(t);
	return mask;
}

static void rkmm_query_op(const struct rkmm_op_facts *facts, bool derived,
			  struct drm_rkmm_op_info *info)
{
	*info = (struct drm_rkmm_op_info){
		.kind = facts->code + 1,
		.element = rkmm_query_element(facts->precision),
		.other = facts->other,
		.reason = facts->reason,
		.evidence = facts->least,
		.evidence_most = facts->most,
		.n_most = facts->n_most,
		.op_flags = facts->flags,
		.n_align = facts->n_align,
		.n_max = facts->n_max,
		.error_unit = facts->unit,
		.error = facts->error,
		.stage_of = derived ? facts->stage_of : facts->stage_sure & ~rkmm_query_unsure(),
		.fused_in = derived ? facts->fused_in : facts->fused_sure & ~rkmm_query_unsure(),
	};
	if (facts->reason != RKMM_OK)
		return;
	if (derived || facts->least > RKMM_EVIDENCE_DERIVED) {
		info->flags = DRM_RKMM_OP_AVAILABLE;
		return;
	}
	info->reason = DRM_RKMM_REASON_FORM;
	if (facts->most > RKMM_EVIDENCE_DERIVED)
		info->flags = DRM_RKMM_OP_PARTLY;
}

/* As all others answer, but too much for the stack */
static int rkmm_query_ops(struct rkmm_client *client, struct drm_rkmm_query *args)
{
	u32 size = RKMM_OP_FACTS * sizeof(struct drm_rkmm_op_info), room = args->size, i;
	struct drm_rkmm_op_info *infos;
	struct rkmm_op_facts facts;
	bool derived = rkmm_plan_derived(client->rdev);
	struct rkmm_epilogue *scratch;
	int ret = -ENOMEM;

	args->size = size;
	if (!args->pointer)
		return 0;
	infos = kvzalloc(size, GFP_KERNEL_ACCOUNT);
	scratch = kvmalloc(sizeof(*scratch), GFP_KERNEL_ACCOUNT);
	if (infos && scratch) {
		for (i = 0; i < RKMM_OP_FACTS; i++) {
			rkmm_op_facts(client->rdev->soc->limits, i, scratch, &facts);
			rkmm_query_op(&facts, derived, &infos[i]);
		}
		ret = copy_to_user(u64_to_user_ptr(args->pointer), infos, min(size, room)) ?
		      -EFAULT : 0;
	}
	kvfree(scratch);
	kvfree(infos);
	return ret;
}

static void rkmm_query_sched(struct rkmm_device *rdev, struct drm_rkmm_sched_info *info)
{
	struct rkmm_sched *sched = &rdev->sched;
	struct rkmm_window *window;
	u32 i;

	mutex_lock(&rdev->vm.lock);
	list_for_each_entry(window, &rdev->vm.windows, node)
		info->windows++;
	mutex_unlock(&rdev->vm.lock);
	spin_lock_irq(&sched->lock);
	info->choices = sched->policy.choices;
	info->switches = sched->switches;
	info->switch_ns = sched->switch_ns;
	info->switches_avoided = sched->policy.rule[RKMM_RULE_WINDOW];
	info->stagings = sched->remaps;
	info->mode_changes = sched->changes;
	info->mode_changes_avoided = sched->policy.rule[RKMM_RULE_MODE];
	info->mode_resets = sched->mode_resets;
	info->aged = sched->policy.rule[RKMM_RULE_AGE];
	info->forced = sched->policy.forced;
	info->looks = sched->looks;
	info->warmups = READ_ONCE(sched->warmups);
	info->lost_irqs = rkmm_sched_lost_irqs(rdev);
	for (i = 0; i < rdev->ncores; i++)
		info->polled += rdev->cores[i].polled;
	spin_unlock_irq(&sched->lock);
}

#define RKMM_QUERY_MODES_FROM	(RKMM_MODE_DPU - RKMM_MODE_COLD)
#define RKMM_QUERY_MODES_TO	(RKMM_MODE_DPU - RKMM_MODE_F16)

static void rkmm_query_modes(struct rkmm_device *rdev, struct drm_rkmm_mode_info *info)
{
	u32 i, from, to;

	BUILD_BUG_ON((int)RKMM_MODE_I4 != DRM_RKMM_MODE_I4);
	BUILD_BUG_ON((int)RKMM_NEED_RESET != DRM_RKMM_NEED_RESET);
	spin_lock_irq(&rdev->sched.lock);
	for (i = 0; i < RKMM_QUERY_MODES_FROM * RKMM_QUERY_MODES_TO; i++) {
		from = i / RKMM_QUERY_MODES_TO;
		to = RKMM_MODE_F16 + i % RKMM_QUERY_MODES_TO;
		info[i] = (struct drm_rkmm_mode_info){
			.from = from, .to = to,
			.need = rdev->verdicts.need[from][to],
			.table = rkmm_transition(from, to)->need,
			.right = rdev->mode_proofs[from][to].right,
			.wrong = rdev->mode_proofs[from][to].wrong,
			.told = rdev->mode_proofs[from][to].told,
		};
	}
	spin_unlock_irq(&rdev->sched.lock);
}

int rkmm_ioctl_query(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct rkmm_client *client = file->driver_priv;
	struct drm_rkmm_query *args = data;
	union {
		struct drm_rkmm_device_info device;
		struct drm_rkmm_type_info types[RKMM_T_COUNT];
		struct drm_rkmm_client_info client;
		struct drm_rkmm_sched_info sched;
		struct drm_rkmm_mode_info modes[RKMM_QUERY_MODES_FROM * RKMM_QUERY_MODES_TO];
	} answer = {};
	u32 size, room = args->size;
	int idx;

	switch (args->id) {
	case DRM_RKMM_QUERY_DEVICE:
		size = sizeof(answer.device);
		/* The clock is asked for its rate, under a lock that goes with the device. */
		if (!drm_dev_enter(drm, &idx))
			return -ENODEV;
		rkmm_query_device(client->rdev, &answer.device);
		drm_dev_exit(idx);
		break;
	case DRM_RKMM_QUERY_TYPES:
		size = sizeof(answer.types);
		rkmm_query_types(answer.types);
		break;
	case DRM_RKMM_QUERY_CLIENT:
		size = sizeof(answer.client);
		rkmm_query_client(client, &answer.client);
		break;
	case DRM_RKMM_QUERY_OPS:
		return rkmm_query_ops(client, args);
	case DRM_RKMM_QUERY_SCHED:
		size = sizeof(answer.sched);
		rkmm_query_sched(client->rdev, &answer.sched);
		break;
	case DRM_RKMM_QUERY_MODES:
		size = sizeof(answer.modes);
		rkmm_query_modes(client->rdev, answer.modes);
		break;
	default:
		drm_dbg(drm, "query: unknown id %u\n", args->id);
		return -EINVAL;
	}

	args->size = size;
	if (!args->pointer)
		return 0;
	if (copy_to_user(u64_to_user_ptr(args->pointer), &answer, min(size, room)))
		return -EFAULT;
	return 0;
}

int rkmm_ioctl_client_set(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct rkmm_client *client = file->driver_priv;
	struct rkmm_sched *sched = &client->rdev->sched;
	struct drm_rkmm_client_set *args = data;

	if (args->pad || args->param != DRM_RKMM_CLIENT_PRIORITY ||
	    args->value >= RKMM_PRIORITIES) {
		drm_dbg(drm, "client: parameter %u, value %llu\n", args->param, args->value);
		return -EINVAL;
	}
	if (args->value == DRM_RKMM_PRIORITY_HIGH && !capable(CAP_SYS_NICE)) {
		drm_dbg(drm, "client: high priority needs CAP_SYS_NICE\n");
		return -EACCES;
	}
	spin_lock_irq(&sched->lock);
	client->candidate.priority = args->value;
	spin_unlock_irq(&sched->lock);
	return 0;
}
