/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of kernel events, and what lines about them say. */
#ifndef TESTS_UNIT_TRACE_MADE_H
#define TESTS_UNIT_TRACE_MADE_H

#include "bpf/trace_abi.h"
#include "tests/unit/unit.h"

static inline struct trace_record record(uint32_t kind, uint32_t pid, uint64_t a0, uint64_t a1,
					 uint64_t result)
{
	return (struct trace_record){ .kind = kind, .tgid = pid, .tid = pid, .weight = 1,
				      .time_ns = 1500000, .a = { a0, a1, 0, 0, 0, result },
				      .comm = "victim" };
}

/* Columns are as wide as their widest: one space for each run of them. */
static inline char *squeezed(const char *text)
{
	char *s = strdup(text), *to = s;

	assert_non_null(s);
	for (const char *at = s; *at; at++)
		if (*at != ' ' || at[1] != ' ')
			*to++ = *at;
	*to = '\0';
	return s;
}

#endif
