/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What this die was seen to do: verdicts of known-answer jobs, who asks for them, and who
 * goes by them. The table itself is prog/rkmm_envelope.h.
 */
#ifndef RKMM_ENVELOPE_DEVICE_H
#define RKMM_ENVELOPE_DEVICE_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/sysfs.h>
#include <linux/workqueue.h>

#include "prog/rkmm_probe.h"
#include "rkmm_job.h"

#define RKMM_SUSPECTS	8

struct rkmm_probe_set;

/**
 * struct rkmm_trust - verdicts on one device
 * @table: verdicts; under @lock
 * @next: scratch of an import; under @lock
 * @failures: counts what may make plans stale; written under @lock
 * @chip: what a table is bound to
 * @bound: this one chip has it, and no other
 * @gone: the device is; under @run
 * @left: memory that a core may still write to, as the device went; under @run
 * @asked: jiffies of the last known-answer job that a client asked for; under @run
 * @suspect: plans whose jobs hung or crawled; under @suspects_lock
 * @nsuspects: entries of @suspect
 */
struct rkmm_trust {
	/** @lock: the table; innermost but for xarray and spin locks */
	struct mutex lock;
	struct rkmm_envelope table, next;
	u32 failures;
	u64 chip;
	bool bound;
	/** @run: one known-answer job at a time; outside everything */
	struct mutex run;
	bool gone;
	struct rkmm_probe_set *left;
	unsigned long asked;
	/** @suspects_lock: inside rkmm_sched.lock */
	spinlock_t suspects_lock;
	struct {
		struct rkmm_client *client;
		u64 plan;
	} suspect[RKMM_SUSPECTS];
	u32 nsuspects;
	/** @work: runs known-answer jobs for @suspect */
	struct work_struct work;
};

/**
 * struct rkmm_trial - how one known-answer job went
 * @outcome: enum rkmm_outcome
 * @wrong: rows that were wrong, of all runs
 * @ns: time of the slowest run
 * @predicted_ns: what the cost law says of one at the present clock
 */
struct rkmm_trial {
	enum rkmm_outcome outcome;
	u32 wrong;
	u64 ns, predicted_ns;
};

/* rkmm_trust_init() - before anybody can ask; 0 or -errno with a line in the log */
int rkmm_trust_init(struct rkmm_device *rdev);
/* rkmm_trust_stop() - behind rkmm_sched_kill(): nothing of it runs any more */
void rkmm_trust_stop(struct rkmm_device *rdev);

/**
 * rkmm_trust_lend() - let the planner go by the verdicts
 * @rdev: the device
 * @bits: bits per element of A of the plan
 * @limits: die is set; its envelope will be too, and another die
 * @own: room for that die
 *
 * Where there are no verdicts nothing changes, and no lock is taken.
 *
 * Return: what to give to rkmm_trust_return().
 */
bool rkmm_trust_lend(struct rkmm_device *rdev, u32 bits, struct rkmm_limits *limits,
		     struct rkmm_envelope_die *own);
void rkmm_trust_return(struct rkmm_device *rdev, bool lent);
/* rkmm_trust_failures() - counts verdicts that may make plans stale */
u32 rkmm_trust_failures(struct rkmm_device *rdev);
/* rkmm_trust_check() - set @plan->stale if its geometry is not trusted any more */
void rkmm_trust_check(struct rkmm_device *rdev, struct rkmm_plan *plan);

/*
 * rkmm_trust_suspect() - jobs of a plan, by its uid, did what they should not: a known-answer
 * job will say whether it is the geometry; any context, rkmm_sched.lock may be held
 */
void rkmm_trust_suspect(struct rkmm_client *client, u64 plan);

/**
 * rkmm_probe_run() - run a known-answer job
 * @rdev: the device
 * @cell: its geometry
 * @kp: padded K
 * @trial: filled on success
 *
 * Sleeps, interruptibly until it starts; nothing else runs meanwhile. A hang is recovered from.
 *
 * Return: 0; -EINTR, -ENOMEM, -ENOSPC, -ENODEV, or -EOPNOTSUPP where there is no such job here.
 */
int rkmm_probe_run(struct rkmm_device *rdev, const struct rkmm_cell *cell, u32 kp,
		   struct rkmm_trial *trial);

/* rkmm_probe_free() - nothing runs it any more; NULL is fine; sleeps */
void rkmm_probe_free(struct rkmm_probe_set *set);

int rkmm_ioctl_probe(struct drm_device *drm, void *data, struct drm_file *file);
ssize_t rkmm_trust_export(struct rkmm_device *rdev, char *buf, loff_t at, size_t count);
ssize_t rkmm_trust_import(struct rkmm_device *rdev, const char *buf, loff_t at, size_t count);

#endif
