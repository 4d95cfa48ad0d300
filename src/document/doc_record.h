/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records for programs: a table of one row that has a key, a unit and a value for each member. Text
 * has none of it; for people there are facts.
 *
 * A record is NULL when out of memory; all functions accept that, and doc_add() fails the document.
 */
#ifndef DOCUMENT_DOC_RECORD_H
#define DOCUMENT_DOC_RECORD_H

#include "src/document/table.h"

/* A record without members, table_free(). Its key and those of its members are not copied. */
struct table *record_new(const char *key);

/* Add a member, behind those there are. */
void record_add(struct table *t, const char *key, enum unit unit, uint64_t value);
void record_float(struct table *t, const char *key, enum unit unit, double value);

/* A text, which is copied. NULL: no member. */
void record_text(struct table *t, const char *key, const char *text);

static inline void record_count(struct table *t, const char *key, uint64_t n)
{
	record_add(t, key, UNIT_COUNT, n);
}

static inline void record_number(struct table *t, const char *key, uint64_t n)
{
	record_add(t, key, UNIT_NUMBER, n);
}

static inline void record_bytes(struct table *t, const char *key, uint64_t bytes)
{
	record_add(t, key, UNIT_BYTES, bytes);
}

static inline void record_duration(struct table *t, const char *key, uint64_t ns)
{
	record_add(t, key, UNIT_DURATION, ns);
}

static inline void record_bool(struct table *t, const char *key, bool value)
{
	record_add(t, key, UNIT_BOOL, value);
}

#endif
