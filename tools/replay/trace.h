/* SPDX-License-Identifier: MIT */
/* A trace: what clients ask for, and what has to be over before. */
#ifndef REPLAY_TRACE_H
#define REPLAY_TRACE_H

#include <stdbool.h>

#include "kmod/prog/rkmm_prog.h"

#define TRACE_NAME	40

/**
 * struct op - a matmul, or work of the client itself
 * @name: for people
 * @host_ns: work of the client's own thread; 0 for a matmul
 * @types: types of the matmul
 * @m: rows
 * @k: columns of A
 * @n: columns of B
 * @submit: operations in a row with the same number are handed over together
 * @activation: those with the same number in a client read the same A; 0 is never shared
 * @at: byte of the model at which the weight lies
 * @bytes: of the weight
 * @not_before_ns: earliest start, from the start of the trace
 * @after: operations of the same client that must be over, indices below its own
 * @nafter: how many
 */
struct op {
	char name[TRACE_NAME];
	u64 host_ns;
	enum rkmm_types types;
	u32 m, k, n;
	u32 submit, activation;
	u64 at, bytes, not_before_ns;
	u32 *after;
	u32 nafter;
};

/**
 * struct client - one user of the device
 * @name: for people
 * @priority: enum rkmm_priority
 * @ops: in the order that they are asked for
 * @nops: how many
 * @bytes: of all its weights, which lie one behind the other
 */
struct client {
	char name[TRACE_NAME];
	u32 priority;
	struct op *ops;
	u32 nops;
	u64 bytes;
};

/**
 * struct trace - all clients
 * @name: for people
 * @source: where the figures come from
 * @baseline_windows: address windows that the userspace stack spreads the weights over
 * @clients: clients
 * @nclients: how many
 */
struct trace {
	char name[TRACE_NAME];
	char source[256];
	u32 baseline_windows;
	struct client *clients;
	u32 nclients;
};

/* Built up step by step; both end the program when there is no memory. */
struct client *trace_client(struct trace *trace, const char *name, u32 priority);
struct op *client_op(struct client *client, const char *name);
void op_after(struct op *op, u32 index);
void trace_free(struct trace *trace);

/* Sizes of weights and their places, where nothing is given. */
u64 op_weight_bytes(const struct op *op);

/**
 * trace_load() - read the format of Documentation/schema/replay-trace.json
 * @path: file, "-" for standard input
 * @trace: filled; trace_free() even after a failure
 *
 * Return: false with a message on standard error.
 */
bool trace_load(const char *path, struct trace *trace);

/** trace_save() - write it to standard output */
bool trace_save(const struct trace *trace);

/** trace_make() - a built-in one; false for an unknown name */
bool trace_make(const char *name, struct trace *trace);

/** trace_names() - the built-in ones, one a line with what it is */
void trace_names(void);

#endif
