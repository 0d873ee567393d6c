/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef JSON_SCHEMA_H
#define JSON_SCHEMA_H

#include <stdbool.h>
#include <jansson.h>

#define SCHEMA	"Documentation/schema/"

/* A file's value, which has to be one. */
json_t *json_load_path(const char *path);
/* Does the value fit the schema in the file? */
bool json_fits(const char *schema, json_t *v);

#endif
