// SPDX-License-Identifier: GPL-2.0 OR MIT
/* As much of JSON schema as the files in Documentation/schema use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "json_schema.h"

static bool is_type(const char *name, const json_t *v)
{
	return (!strcmp(name, "object") && json_is_object(v)) ||
	       (!strcmp(name, "array") && json_is_array(v)) ||
	       (!strcmp(name, "string") && json_is_string(v)) ||
	       (!strcmp(name, "integer") && json_is_integer(v)) ||
	       (!strcmp(name, "number") && json_is_number(v)) ||
	       (!strcmp(name, "null") && json_is_null(v));
}

static bool has_type(const json_t *type, const json_t *v)
{
	size_t i;

	if (json_is_string(type))
		return is_type(json_string_value(type), v);
	for (i = 0; i < json_array_size(type); i++)
		if (is_type(json_string_value(json_array_get(type, i)), v))
			return true;
	return !type;
}

static bool in_enum(const json_t *list, const json_t *v)
{
	size_t i;

	for (i = 0; i < json_array_size(list); i++)
		if (json_equal(json_array_get(list, i), v))
			return true;
	return !list;
}

static const json_t *resolve(const json_t *root, const json_t *schema)
{
	const char *ref = json_string_value(json_object_get(schema, "$ref"));

	if (!ref)
		return schema;
	assert_int_equal(strncmp(ref, "#/definitions/", 14), 0);
	schema = json_object_get(json_object_get(root, "definitions"), ref + 14);
	assert_non_null(schema);
	return schema;
}

static bool valid(const json_t *root, const json_t *schema, json_t *v);

static bool valid_object(const json_t *root, const json_t *schema, json_t *v)
{
	const json_t *properties = json_object_get(schema, "properties");
	const json_t *required = json_object_get(schema, "required");
	const char *key;
	json_t *member;
	size_t i;

	for (i = 0; i < json_array_size(required); i++)
		if (!json_object_get(v, json_string_value(json_array_get(required, i))))
			return false;
	json_object_foreach(v, key, member) {
		const json_t *own = json_object_get(properties, key);

		if (!own && json_is_false(json_object_get(schema, "additionalProperties")))
			return false;
		if (own && !valid(root, own, member))
			return false;
	}
	return true;
}

static bool valid(const json_t *root, const json_t *schema, json_t *v)
{
	const json_t *most, *least;
	size_t i;

	schema = resolve(root, schema);
	least = json_object_get(schema, "minimum");
	most = json_object_get(schema, "maximum");
	if (!has_type(json_object_get(schema, "type"), v) ||
	    !in_enum(json_object_get(schema, "enum"), v) ||
	    (json_is_object(v) && !valid_object(root, schema, v)) ||
	    (least && json_number_value(v) < json_number_value(least)) ||
	    (most && json_number_value(v) > json_number_value(most)))
		return false;
	if (!json_is_array(v))
		return true;
	least = json_object_get(schema, "minItems");
	most = json_object_get(schema, "maxItems");
	if ((least && json_array_size(v) < (size_t)json_integer_value(least)) ||
	    (most && json_array_size(v) > (size_t)json_integer_value(most)))
		return false;
	for (i = 0; i < json_array_size(v); i++)
		if (json_object_get(schema, "items") &&
		    !valid(root, json_object_get(schema, "items"), json_array_get(v, i)))
			return false;
	return true;
}

json_t *json_load_path(const char *path)
{
	json_error_t error;
	json_t *v = json_load_file(path, JSON_REJECT_DUPLICATES, &error);

	if (!v)
		print_error("%s: line %d: %s\n", path, error.line, error.text);
	assert_non_null(v);
	return v;
}

bool json_fits(const char *schema, json_t *v)
{
	json_t *s = json_load_path(schema);
	bool ok = valid(s, s, v);

	json_decref(s);
	return ok;
}
