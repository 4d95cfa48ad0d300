/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Streaming JSON writer: always well-formed, always valid UTF-8, commas and indentation by itself.
 *
 *	struct json j;
 *	json_init(&j, stdout);
 *	json_object(&j, NULL);			the key is NULL at the top and inside arrays
 *	json_u64(&j, "blocks", 3);
 *	json_array(&j, "sites"); ... json_end(&j);
 *	json_end(&j);
 *	rc = json_finish(&j);			-errno when writing failed
 *
 * Bytes of a string that are not UTF-8 become U+FFFD. What could drive a terminal (src/base/utf8.h)
 * is escaped, \uXXXX.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_MAX_DEPTH 64

struct json {
	FILE *out;
	unsigned depth;
	/* depth from which everything stays on one line; 0 = none */
	unsigned flat;
	bool first;			/* nothing written yet at this depth */
	/* unbalanced, key missing or one too many: json_finish() gives -EINVAL */
	bool misused;
	char closer[JSON_MAX_DEPTH];	/* '}' or ']' of each open level */
};

/* Start a document on `out`, which the caller keeps and closes. */
void json_init(struct json *j, FILE *out);

void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
/* The same, written on one line: for small records and rows. */
void json_object_flat(struct json *j, const char *key);
void json_array_flat(struct json *j, const char *key);
/* End the innermost object or array. */
void json_end(struct json *j);

/* A value; text NULL writes null. */
void json_str(struct json *j, const char *key, const char *text);
void json_strn(struct json *j, const char *key, const char *text, size_t n);
void json_u64(struct json *j, const char *key, uint64_t n);
void json_i64(struct json *j, const char *key, int64_t n);
/* Shortest form that reads back the same; not a number and infinities become null. */
void json_double(struct json *j, const char *key, double x);
void json_bool(struct json *j, const char *key, bool b);
void json_null(struct json *j, const char *key);
/* An address as the string "0x7f...". */
void json_hex(struct json *j, const char *key, uint64_t n);

/*
 * End the document with a newline and flush. 0, -EINVAL when used wrongly, -EIO or -errno when
 * writing failed.
 */
int json_finish(struct json *j);

#endif
