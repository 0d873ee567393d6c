// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "lib/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/internal.h"

#define MAX_THREADS	16

size_t rkmm_parallel_min = 1 << 20;

/**
 * struct job - what the pool works on
 * @fn: does a piece
 * @arg: its argument
 * @items: all of them
 * @step: items of a piece
 * @next: first item that nobody took yet; 64 bits, so that it cannot wrap
 */
struct job {
	rkmm_piece_fn fn;
	void *arg;
	uint32_t items;
	uint32_t step;
	atomic_ullong next;
};

/**
 * struct pool - the threads of this process
 * @run: held by the caller whose job is done, and while threads come and go;
 *	protects @threads and @id
 * @lock: protects the rest
 * @wake: there is a job, or the end
 * @done: nobody is at work any more
 * @job: the job or NULL
 * @number: counts jobs, so that nobody takes one twice
 * @working: threads at work on @job
 * @devices: open devices
 * @stop: threads are to end
 * @threads: length of @id
 * @id: the threads
 */
struct pool {
	pthread_mutex_t run;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_cond_t done;
	struct job *job;
	uint64_t number;
	unsigned int working;
	unsigned int devices;
	bool stop;
	unsigned int threads;
	pthread_t id[MAX_THREADS];
};

static struct pool pool = {
	.run = PTHREAD_MUTEX_INITIALIZER,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.wake = PTHREAD_COND_INITIALIZER,
	.done = PTHREAD_COND_INITIALIZER,
};

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static atomic_uint wanted;	/* 0: not asked for yet */

static unsigned int default_threads(void)
{
	const char *text = getenv("RKMM_THREADS");
	unsigned long n = text ? strtoul(text, NULL, 10) : 0;
	cpu_set_t set;

	if (!n)
		n = sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned long)CPU_COUNT(&set);
	return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (unsigned int)n;
}

unsigned int rkmm_threads(void)
{
	unsigned int n = atomic_load_explicit(&wanted, memory_order_relaxed);

	if (!n) {
		n = default_threads();
		atomic_store_explicit(&wanted, n, memory_order_relaxed);
	}
	return n;
}

void rkmm_set_threads(unsigned int n)
{
	atomic_store_explicit(&wanted, n > MAX_THREADS ? MAX_THREADS : n, memory_order_relaxed);
}

static void work(struct job *job)
{
	uint64_t first;

	for (;;) {
		first = atomic_fetch_add_explicit(&job->next, job->step, memory_order_relaxed);
		if (first >= job->items)
			return;
		job->fn(job->arg, (uint32_t)first, job->items - first < job->step ?
			job->items - (uint32_t)first : job->step);
	}
}

static void *thread_main(void *arg)
{
	uint64_t seen = 0;
	struct job *job;

	pthread_mutex_lock(&pool.lock);
	for (;;) {
		while (!pool.stop && (!pool.job || pool.number == seen))
			pthread_cond_wait(&pool.wake, &pool.lock);
		if (pool.stop)
			break;
		seen = pool.number;
		job = pool.job;
		pool.working++;
		pthread_mutex_unlock(&pool.lock);
		work(job);
		pthread_mutex_lock(&pool.lock);
		if (!--pool.working)
			pthread_cond_signal(&pool.done);
	}
	pthread_mutex_unlock(&pool.lock);
	return arg;
}

/* A child of fork() has none of the threads; it starts its own when it needs them. */
static void before_fork(void)
{
	pthread_mutex_lock(&pool.run);
	pthread_mutex_lock(&pool.lock);
}

static void parent_forked(void)
{
	pthread_mutex_unlock(&pool.lock);
	pthread_mutex_unlock(&pool.run);
}

static void child_forked(void)
{
	pool.threads = 0;
	pthread_cond_init(&pool.wake, NULL);
	pthread_cond_init(&pool.done, NULL);
	parent_forked();
}

static void watch_forks(void)
{
	pthread_atfork(before_fork, parent_forked, child_forked);
}

/* As many as there can be; pool.run must be held. */
static void start_threads(unsigned int count)
{
	sigset_t all, old;

	if (pool.threads >= count)
		return;
	pthread_once(&fork_once, watch_forks);
	/* Signals are for the threads of the program. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	while (pool.threads < count &&
	       !pthread_create(&pool.id[pool.threads], NULL, thread_main, NULL))
		pool.threads++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* pool.run must be held. */
static void stop_threads(void)
{
	unsigned int i;

	pthread_mutex_lock(&pool.lock);
	pool.stop = true;
	pthread_cond_broadcast(&pool.wake);
	pthread_mutex_unlock(&pool.lock);
	for (i = 0; i < pool.threads; i++)
		pthread_join(pool.id[i], NULL);
	pool.threads = 0;
	pool.stop = false;
}

void rkmm_parallel(size_t bytes, uint32_t items, uint32_t step, rkmm_piece_fn fn, void *arg)
{
	struct job job = { .fn = fn, .arg = arg, .items = items, .step = step };
	unsigned int threads;

	if (bytes < rkmm_parallel_min || items <= step)
		goto alone;
	threads = rkmm_threads();
	if (threads < 2 || pthread_mutex_trylock(&pool.run))
		goto alone;
	start_threads(threads - 1);
	pthread_mutex_lock(&pool.lock);
	pool.job = &job;
	pool.number++;
	pthread_cond_broadcast(&pool.wake);
	pthread_mutex_unlock(&pool.lock);
	work(&job);
	pthread_mutex_lock(&pool.lock);
	/* Who wakes up from now on finds nothing. */
	pool.job = NULL;
	while (pool.working)
		pthread_cond_wait(&pool.done, &pool.lock);
	pthread_mutex_unlock(&pool.lock);
	pthread_mutex_unlock(&pool.run);
	return;
alone:
	fn(arg, 0, items);
}

void rkmm_pool_get(void)
{
	pthread_mutex_lock(&pool.lock);
	pool.devices++;
	pthread_mutex_unlock(&pool.lock);
}

void rkmm_pool_put(void)
{
	bool last;

	pthread_mutex_lock(&pool.run);
	pthread_mutex_lock(&pool.lock);
	last = !--pool.devices;
	pthread_mutex_unlock(&pool.lock);
	if (last)
		stop_threads();
	pthread_mutex_unlock(&pool.run);
}

/* Packing needs no device: whoever used none ends the threads here. */
static void __attribute__((destructor)) unload(void)
{
	/* Somebody may have called exit() out of a job; the process ends anyway. */
	if (pthread_mutex_trylock(&pool.run))
		return;
	stop_threads();
	pthread_mutex_unlock(&pool.run);
}
