/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rkmm

#if !defined(RKMM_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define RKMM_TRACE_H

#include <linux/tracepoint.h>
#include "rkmm_job.h"

TRACE_EVENT(rkmm_plan,
	TP_PROTO(const struct rkmm_client *client, const struct rkmm_plan *plan),
	TP_ARGS(client, plan),
	TP_STRUCT__entry(
		__field(u64, client)
		__field(u64, plan)
		__field(u32, m)
		__field(u32, k)
		__field(u32, n)
		__field(u32, rows)
		__field(u32, cols)
		__field(u32, slices)
		__field(u32, data_banks)
		__field(u32, lanes)
		__field(u32, programs)
		__field(u32, fallback_rows)
		__field(u32, fallback_cols)
		__field(u32, fallback_programs)
		__string(types, rkmm_types_name(plan->geom.mm.types))
		__string(form, rkmm_form_name(plan->geom.form))
	),
	TP_fast_assign(
		__entry->client = client->id;
		__entry->plan = plan->uid;
		__entry->m = plan->geom.mm.m;
		__entry->k = plan->geom.mm.k;
		__entry->n = plan->geom.mm.n;
		__entry->rows = plan->geom.rows;
		__entry->cols = plan->geom.cols;
		__entry->slices = plan->geom.slices;
		__entry->data_banks = plan->geom.data_banks;
		__entry->lanes = plan->geom.lanes;
		__entry->programs = plan->geom.programs;
		__entry->fallback_rows = plan->fallback.rows;
		__entry->fallback_cols = plan->fallback.cols;
		__entry->fallback_programs = plan->fallback.programs;
		rkmm_assign_str(types, rkmm_types_name(plan->geom.mm.types));
		rkmm_assign_str(form, rkmm_form_name(plan->geom.form));
	),
	TP_printk("client=%llu plan=%llu types=%s shape=%ux%ux%u form=%s rows=%u cols=%u slices=%u data_banks=%u lanes=%u programs=%u fallback_rows=%u fallback_cols=%u fallback_programs=%u",
		  __entry->client, __entry->plan, __get_str(types), __entry->m, __entry->k,
		  __entry->n, __get_str(form), __entry->rows, __entry->cols, __entry->slices,
		  __entry->data_banks, __entry->lanes, __entry->programs,
		  __entry->fallback_rows, __entry->fallback_cols, __entry->fallback_programs)
);

/* A step of a job that is being made: what became one image, and why it ends there */
TRACE_EVENT(rkmm_step,
	TP_PROTO(const struct rkmm_job *job, u32 first, u32 operations,
		 const struct rkmm_image *image, const char *why),
	TP_ARGS(job, first, operations, image, why),
	TP_STRUCT__entry(
		__field(u64, client)
		__field(u32, first)
		__field(u32, operations)
		__field(u32, lanes)
		__field(u32, kicks)
		__field(u32, tasks)
		__string(why, why)
	),
	TP_fast_assign(
		__entry->client = job->client->id;
		__entry->first = first;
		__entry->operations = operations;
		__entry->lanes = image->nlanes;
		__entry->kicks = image->nkicks;
		__entry->tasks = image->tasks;
		rkmm_assign_str(why, why);
	),
	TP_printk("client=%llu first=%u operations=%u lanes=%u kicks=%u tasks=%u why=%s",
		  __entry->client, __entry->first, __entry->operations, __entry->lanes,
		  __entry->kicks, __entry->tasks, __get_str(why))
);

DECLARE_EVENT_CLASS(rkmm_job,
	TP_PROTO(const struct rkmm_job *job),
	TP_ARGS(job),
	TP_STRUCT__entry(
		__field(u64, client)
		__field(u64, seqno)
		__field(u64, plan)
		__field(u32, operations)
		__field(u32, steps)
		__field(u32, window)
		__field(u32, cores)
		__field(int, result)
		__field(u64, npu_ns)
	),
	TP_fast_assign(
		__entry->client = job->client->id;
		__entry->seqno = job->seqno;
		__entry->plan = job->steps[0]->keys[0].plan;
		__entry->operations = job->nops;
		__entry->steps = job->nsteps;
		__entry->window = job->steps[0]->mem->window->id;
		__entry->cores = job->cores;
		__entry->result = job->result;
		__entry->npu_ns = job->npu_ns;
	),
	TP_printk("client=%llu seqno=%llu plan=%llu operations=%u steps=%u window=%u cores=%#x result=%d npu_ns=%llu",
		  __entry->client, __entry->seqno, __entry->plan, __entry->operations,
		  __entry->steps, __entry->window, __entry->cores, __entry->result,
		  __entry->npu_ns)
);

DEFINE_EVENT(rkmm_job, rkmm_job_submit,
	TP_PROTO(const struct rkmm_job *job),
	TP_ARGS(job)
);

/* It waited for fences, and they have signalled */
DEFINE_EVENT(rkmm_job, rkmm_job_ready,
	TP_PROTO(const struct rkmm_job *job),
	TP_ARGS(job)
);

/* The cores are reset for the datapath mode of the job */
DEFINE_EVENT(rkmm_job, rkmm_mode_reset,
	TP_PROTO(const struct rkmm_job *job),
	TP_ARGS(job)
);

/* Behind the last register write of a start */
DEFINE_EVENT(rkmm_job, rkmm_job_started,
	TP_PROTO(const struct rkmm_job *job),
	TP_ARGS(job)
);

DEFINE_EVENT(rkmm_job, rkmm_job_done,
	TP_PROTO(const struct rkmm_job *job),
	TP_ARGS(job)
);

TRACE_EVENT(rkmm_job_run,
	TP_PROTO(const struct rkmm_job *job, const struct rkmm_core *core),
	TP_ARGS(job, core),
	TP_STRUCT__entry(
		__field(u64, client)
		__field(u64, seqno)
		__field(u64, plan)
		__field(u32, core)
		__field(u32, operation)
		__field(u32, lane)
		__field(u32, tasks)
		__field(u32, window)
		__field(bool, pingpong)
		__field(bool, kept)
		__field(u64, started)
		__field(u64, predicted_ns)
		__string(mode, rkmm_mode_name(job->steps[job->step]->mode))
		__string(why, core->kick->reason ?: "")
	),
	TP_fast_assign(
		__entry->client = job->client->id;
		__entry->seqno = job->seqno;
		__entry->plan = job->steps[job->step]->keys[0].plan;
		__entry->core = core->index;
		__entry->operation = job->step;
		__entry->lane = core->kick->lane;
		__entry->tasks = core->kick->tasks;
		__entry->window = rkmm_job_window(job)->id;
		__entry->pingpong = core->kick->pingpong;
		__entry->kept = core->kept;
		__entry->started = core->started;
		__entry->predicted_ns = rkmm_predict_ns(core->rdev, core->kick);
		rkmm_assign_str(mode, rkmm_mode_name(job->steps[job->step]->mode));
		rkmm_assign_str(why, core->kick->reason ?: "");
	),
	TP_printk("client=%llu seqno=%llu plan=%llu core=%u operation=%u lane=%u tasks=%u window=%u mode=%s pingpong=%d kept=%d predicted_ns=%llu why=%s",
		  __entry->client, __entry->seqno, __entry->plan, __entry->core,
		  __entry->operation, __entry->lane, __entry->tasks, __entry->window,
		  __get_str(mode), __entry->pingpong, __entry->kept, __entry->predicted_ns,
		  __get_str(why))
);

/* The kick of rkmm_job_run has left the core, one way or another */
TRACE_EVENT(rkmm_job_ran,
	TP_PROTO(const struct rkmm_core *core, u64 ns),
	TP_ARGS(core, ns),
	TP_STRUCT__entry(
		__field(u64, client)
		__field(u64, seqno)
		__field(u32, core)
		__field(u32, operation)
		__field(u32, lane)
		__field(u64, predicted_ns)
		__field(u64, ns)
	),
	TP_fast_assign(
		__entry->client = core->job->client->id;
		__entry->seqno = core->job->seqno;
		__entry->core = core->index;
		__entry->operation = core->job->step;
		__entry->lane = core->kick->lane;
		__entry->predicted_ns = rkmm_predict_ns(core->rdev, core->kick);
		__entry->ns = ns;
	),
	TP_printk("client=%llu seqno=%llu core=%u operation=%u lane=%u predicted_ns=%llu ns=%llu",
		  __entry->client, __entry->seqno, __entry->core, __entry->operation,
		  __entry->lane, __entry->predicted_ns, __entry->ns)
);

TRACE_EVENT(rkmm_job_timeout,
	TP_PROTO(const struct rkmm_job *job, u32 core, u32 task, u32 raw),
	TP_ARGS(job, core, task, raw),
	TP_STRUCT__entry(
		__field(u64, client)
		__field(u64, seqno)
		__field(u32, core)
		__field(u32, operation)
		__field(u32, task)
		__field(u32, raw)
	),
	TP_fast_assign(
		__entry->client = job->client->id;
		__entry->seqno = job->seqno;
		__entry->core = core;
		__entry->operation = job->step;
		__entry->task = task;
		__entry->raw = raw;
	),
	TP_printk("client=%llu seqno=%llu core=%u operation=%u task=%u raw=%#x",
		  __entry->client, __entry->seqno, __entry->core, __entry->operation,
		  __entry->task, __entry->raw)
);

/* A client, or all of them, got one more address window */
TRACE_EVENT(rkmm_window_open,
	TP_PROTO(const struct rkmm_device *rdev, const struct rkmm_window *window),
	TP_ARGS(rdev, window),
	TP_STRUCT__entry(
		__field(u32, window)
		__field(u64, bytes)
	),
	TP_fast_assign(
		__entry->window = window->id;
		__entry->bytes = rdev->vm.bytes;
	),
	TP_printk("window=%u bytes=%llu", __entry->window, __entry->bytes)
);

/* All cores were idle; ns is what the IOMMU took */
TRACE_EVENT(rkmm_window_switch,
	TP_PROTO(u32 from, u32 to, u64 ns, int ret),
	TP_ARGS(from, to, ns, ret),
	TP_STRUCT__entry(
		__field(u32, from)
		__field(u32, to)
		__field(u64, ns)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->from = from;
		__entry->to = to;
		__entry->ns = ns;
		__entry->ret = ret;
	),
	TP_printk("from=%u to=%u ns=%llu ret=%d", __entry->from, __entry->to, __entry->ns,
		  __entry->ret)
);

/* What all cores had to be idle for; behind it, with the time that it took */
TRACE_EVENT(rkmm_switch,
	TP_PROTO(u32 window, bool attached, bool staged, bool reset, u64 ns),
	TP_ARGS(window, attached, staged, reset, ns),
	TP_STRUCT__entry(
		__field(u32, window)
		__field(bool, attached)
		__field(bool, staged)
		__field(bool, reset)
		__field(u64, ns)
	),
	TP_fast_assign(
		__entry->window = window;
		__entry->attached = attached;
		__entry->staged = staged;
		__entry->reset = reset;
		__entry->ns = ns;
	),
	TP_printk("window=%u attached=%d staged=%d reset=%d ns=%llu", __entry->window,
		  __entry->attached, __entry->staged, __entry->reset, __entry->ns)
);

/* Because of a job that did not end */
TRACE_EVENT(rkmm_reset,
	TP_PROTO(const struct rkmm_device *rdev, int ret, u64 ns),
	TP_ARGS(rdev, ret, ns),
	TP_STRUCT__entry(
		__field(u64, resets)
		__field(int, ret)
		__field(u64, ns)
	),
	TP_fast_assign(
		__entry->resets = rdev->sched.resets + 1;
		__entry->ret = ret;
		__entry->ns = ns;
	),
	TP_printk("resets=%llu ret=%d ns=%llu", __entry->resets, __entry->ret, __entry->ns)
);

/* A step on the way to it: lines, power, known */
TRACE_EVENT(rkmm_rung,
	TP_PROTO(const char *rung, u32 cores, int ret),
	TP_ARGS(rung, cores, ret),
	TP_STRUCT__entry(
		__array(char, rung, 8)
		__field(u32, cores)
		__field(int, ret)
	),
	TP_fast_assign(
		strscpy(__entry->rung, rung, sizeof(__entry->rung));
		__entry->cores = cores;
		__entry->ret = ret;
	),
	TP_printk("rung=%s cores=%#x ret=%d", __entry->rung, __entry->cores, __entry->ret)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE rkmm_trace
#include <trace/define_trace.h>
