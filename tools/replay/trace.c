// SPDX-License-Identifier: MIT
/* Traces in memory and in files. */
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kmod/prog/rkmm_policy.h"
#include "tools/common/common.h"
#include "trace.h"

/* Nothing in a trace may make a number overflow that is computed from it. */
#define OPS_MAX		1000000u
#define CLIENTS_MAX	64u
#define SIZE_MAX_OP	(1u << 24)
#define BYTES_MAX	(1ull << 44)
#define NS_MAX		1000000000000ull

static void *grow(void *list, u32 count, size_t size)
{
	/* by powers of two */
	if (count & (count - 1))
		return list;
	list = realloc(list, (count ? 2 * (size_t)count : 1) * size);
	if (!list)
		die(2, "out of memory");
	return list;
}

struct client *trace_client(struct trace *trace, const char *name, u32 priority)
{
	struct client *client;

	trace->clients = grow(trace->clients, trace->nclients, sizeof(*client));
	client = &trace->clients[trace->nclients++];
	*client = (struct client){ .priority = priority };
	snprintf(client->name, sizeof(client->name), "%s", name);
	return client;
}

struct op *client_op(struct client *client, const char *name)
{
	struct op *op;

	client->ops = grow(client->ops, client->nops, sizeof(*op));
	op = &client->ops[client->nops++];
	*op = (struct op){ 0 };
	snprintf(op->name, sizeof(op->name), "%s", name);
	return op;
}

void op_after(struct op *op, u32 index)
{
	op->after = grow(op->after, op->nafter, sizeof(*op->after));
	op->after[op->nafter++] = index;
}

void trace_free(struct trace *trace)
{
	u32 i, j;

	for (i = 0; i < trace->nclients; i++) {
		for (j = 0; j < trace->clients[i].nops; j++)
			free(trace->clients[i].ops[j].after);
		free(trace->clients[i].ops);
	}
	free(trace->clients);
	*trace = (struct trace){ 0 };
}

u64 op_weight_bytes(const struct op *op)
{
	return op->host_ns ? 0 : (u64)op->k * op->n * rkmm_in_bits(op->types) / 8;
}

/* --- reading ------------------------------------------------------------------------------ */

static bool bad(const char *path, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool bad(const char *path, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fprintf(stderr, "%s: %s: ", program_name, path);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	va_end(args);
	return false;
}

/* Member @key of @object, from @least to @most; *value keeps what it was when there is none. */
static bool number(json_t *object, const char *key, u64 least, u64 most, u64 *value)
{
	json_t *v = json_object_get(object, key);

	if (!v)
		return true;
	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return false;
	*value = (u64)json_integer_value(v);
	return *value >= least && *value <= most;
}

static bool known_keys(const char *path, json_t *object, const char *const *keys)
{
	const char *key;
	json_t *value;
	u32 i;

	json_object_foreach(object, key, value) {
		for (i = 0; keys[i] && strcmp(keys[i], key);)
			i++;
		if (!keys[i])
			return bad(path, "unknown member \"%s\"", key);
	}
	return true;
}

static bool read_types(json_t *object, enum rkmm_types *types)
{
	const char *name = json_string_value(json_object_get(object, "types"));
	u32 i;

	for (i = 0; name && i < RKMM_T_COUNT; i++) {
		if (strcmp(name, rkmm_types_name(i)))
			continue;
		*types = i;
		return true;
	}
	return false;
}

static bool read_after(const char *path, json_t *object, struct client *client)
{
	struct op *op = &client->ops[client->nops - 1];
	json_t *list = json_object_get(object, "after");
	size_t i;

	if (list && !json_is_array(list))
		return bad(path, "operation %u: \"after\" is no list", client->nops - 1);
	for (i = 0; i < json_array_size(list); i++) {
		json_t *v = json_array_get(list, i);

		if (!json_is_integer(v) || json_integer_value(v) < 0 ||
		    json_integer_value(v) >= client->nops - 1)
			return bad(path, "operation %u comes after one that is not before it",
				   client->nops - 1);
		op_after(op, (u32)json_integer_value(v));
	}
	return true;
}

/* Together means that none waits for another. */
static bool together(const char *path, const struct client *client)
{
	u32 i, j, first = 0;

	for (i = 1; i < client->nops; i++) {
		const struct op *op = &client->ops[i];

		if (op->host_ns || client->ops[first].host_ns ||
		    op->submit != client->ops[first].submit)
			first = i;
		for (j = 0; j < op->nafter; j++)
			if (op->after[j] >= first)
				return bad(path, "operation %u comes after one of its submission",
					   i);
	}
	return true;
}

static bool read_op(const char *path, json_t *object, struct client *client)
{
	static const char *const keys[] = { "name", "host_ns", "types", "m", "k", "n", "submit",
					    "activation", "at", "bytes", "not_before_ns", "after",
					    NULL };
	const char *name = json_string_value(json_object_get(object, "name"));
	u64 m = 0, k = 0, n = 0, submit = 0, activation = 0;
	u32 index = client->nops;
	struct op *op;

	if (!json_is_object(object) || !known_keys(path, object, keys))
		return bad(path, "operation %u is none", index);
	op = client_op(client, name ? name : "");
	submit = index;
	if (!number(object, "host_ns", 1, NS_MAX, &op->host_ns) ||
	    !number(object, "m", 1, SIZE_MAX_OP, &m) || !number(object, "k", 1, SIZE_MAX_OP, &k) ||
	    !number(object, "n", 1, SIZE_MAX_OP, &n) ||
	    !number(object, "submit", 0, 0xffffffff, &submit) ||
	    !number(object, "activation", 0, 0xffffffff, &activation) ||
	    !number(object, "not_before_ns", 0, NS_MAX, &op->not_before_ns))
		return bad(path, "operation %u has a number out of range", index);
	if (!op->host_ns && (!m || !k || !n || !read_types(object, &op->types)))
		return bad(path, "operation %u has neither host_ns nor types, m, k and n", index);
	if (op->host_ns && (m || k || n))
		return bad(path, "operation %u has both \"host_ns\" and a shape", index);
	op->m = (u32)m;
	op->k = (u32)k;
	op->n = (u32)n;
	op->submit = (u32)submit;
	op->activation = (u32)activation;
	op->bytes = op_weight_bytes(op);
	op->at = client->bytes;
	if (!number(object, "bytes", 0, BYTES_MAX, &op->bytes) ||
	    !number(object, "at", 0, BYTES_MAX, &op->at))
		return bad(path, "operation %u has a number out of range", index);
	if (op->at + op->bytes > client->bytes)
		client->bytes = op->at + op->bytes;
	return read_after(path, object, client);
}

static bool read_priority(json_t *object, u32 *priority)
{
	const char *name = json_string_value(json_object_get(object, "priority"));
	u32 i;

	*priority = RKMM_PRIORITY_NORMAL;
	if (!json_object_get(object, "priority"))
		return true;
	for (i = 0; name && i < RKMM_PRIORITIES; i++) {
		if (strcmp(name, rkmm_priority_name(i)))
			continue;
		*priority = i;
		return true;
	}
	return false;
}

static bool read_client(const char *path, json_t *object, struct trace *trace)
{
	static const char *const keys[] = { "name", "priority", "ops", NULL };
	const char *name = json_string_value(json_object_get(object, "name"));
	json_t *ops = json_object_get(object, "ops");
	struct client *client;
	u32 priority;
	size_t i;

	if (!json_is_object(object) || !name || !json_is_array(ops) ||
	    !known_keys(path, object, keys) || json_array_size(ops) > OPS_MAX)
		return bad(path, "client %u needs a \"name\" and \"ops\"", trace->nclients);
	if (!read_priority(object, &priority))
		return bad(path, "client %u: unknown priority", trace->nclients);
	client = trace_client(trace, name, priority);
	for (i = 0; i < json_array_size(ops); i++)
		if (!read_op(path, json_array_get(ops, i), client))
			return false;
	return together(path, client);
}

static bool read_trace(const char *path, json_t *root, struct trace *trace)
{
	static const char *const keys[] = { "schema", "name", "source", "baseline_windows",
					    "clients", NULL };
	const char *schema = json_string_value(json_object_get(root, "schema"));
	const char *name = json_string_value(json_object_get(root, "name"));
	const char *source = json_string_value(json_object_get(root, "source"));
	json_t *clients = json_object_get(root, "clients");
	u64 windows = 1;
	size_t i;

	if (!schema || strcmp(schema, "rkmm-replay-trace-1"))
		return bad(path, "\"schema\" is not \"rkmm-replay-trace-1\"");
	if (!known_keys(path, root, keys) || !name || !json_is_array(clients) ||
	    !json_array_size(clients) || json_array_size(clients) > CLIENTS_MAX)
		return bad(path, "a \"name\" and one to %u \"clients\" are needed", CLIENTS_MAX);
	if (!number(root, "baseline_windows", 1, 64, &windows))
		return bad(path, "\"baseline_windows\" is not 1 .. 64");
	snprintf(trace->name, sizeof(trace->name), "%s", name);
	snprintf(trace->source, sizeof(trace->source), "%s", source ? source : "");
	trace->baseline_windows = (u32)windows;
	for (i = 0; i < json_array_size(clients); i++)
		if (!read_client(path, json_array_get(clients, i), trace))
			return false;
	return true;
}

bool trace_load(const char *path, struct trace *trace)
{
	json_error_t error;
	json_t *root;
	bool ok;

	*trace = (struct trace){ 0 };
	root = strcmp(path, "-") ? json_load_file(path, JSON_REJECT_DUPLICATES, &error) :
	       json_loadf(stdin, JSON_REJECT_DUPLICATES, &error);
	if (!root && error.line < 1)
		return bad(path, "%s", error.text);
	if (!root)
		return bad(path, "line %d: %s", error.line, error.text);
	ok = read_trace(path, root, trace);
	json_decref(root);
	return ok;
}

/* --- writing ------------------------------------------------------------------------------ */

static json_t *op_json(const struct op *op)
{
	json_t *object = json_pack("{s:s}", "name", op->name), *after;
	u32 i;

	if (op->host_ns) {
		json_object_set_new(object, "host_ns", json_integer((json_int_t)op->host_ns));
	} else {
		json_object_set_new(object, "types", json_string(rkmm_types_name(op->types)));
		json_object_set_new(object, "m", json_integer(op->m));
		json_object_set_new(object, "k", json_integer(op->k));
		json_object_set_new(object, "n", json_integer(op->n));
		json_object_set_new(object, "submit", json_integer(op->submit));
		json_object_set_new(object, "activation", json_integer(op->activation));
		json_object_set_new(object, "at", json_integer((json_int_t)op->at));
		json_object_set_new(object, "bytes", json_integer((json_int_t)op->bytes));
	}
	if (op->not_before_ns)
		json_object_set_new(object, "not_before_ns",
				    json_integer((json_int_t)op->not_before_ns));
	after = json_array();
	for (i = 0; i < op->nafter; i++)
		json_array_append_new(after, json_integer(op->after[i]));
	json_object_set_new(object, "after", after);
	return object;
}

/* An operation a line: traces are read by people and compared by diff. */
static bool client_save(const struct client *client, bool last)
{
	json_t *name = json_string(client->name);
	u32 i;

	printf("  {\"name\": ");
	json_dumpf(name, stdout, JSON_ENCODE_ANY);
	json_decref(name);
	printf(", \"priority\": \"%s\", \"ops\": [\n", rkmm_priority_name(client->priority));
	for (i = 0; i < client->nops; i++) {
		json_t *op = op_json(&client->ops[i]);

		printf("   ");
		if (json_dumpf(op, stdout, JSON_PRESERVE_ORDER))
			return false;
		printf("%s\n", i + 1 < client->nops ? "," : "");
		json_decref(op);
	}
	printf("  ]}%s\n", last ? "" : ",");
	return true;
}

bool trace_save(const struct trace *trace)
{
	json_t *head = json_pack("[s,s]", trace->name, trace->source);
	u32 i;

	if (!head)
		return false;
	printf("{\"schema\": \"rkmm-replay-trace-1\",\n \"name\": ");
	json_dumpf(json_array_get(head, 0), stdout, JSON_ENCODE_ANY);
	printf(",\n \"source\": ");
	json_dumpf(json_array_get(head, 1), stdout, JSON_ENCODE_ANY);
	printf(",\n \"baseline_windows\": %u,\n \"clients\": [\n", trace->baseline_windows);
	json_decref(head);
	for (i = 0; i < trace->nclients; i++)
		if (!client_save(&trace->clients[i], i + 1 == trace->nclients))
			return false;
	printf(" ]}\n");
	return !fflush(stdout) && !ferror(stdout);
}
