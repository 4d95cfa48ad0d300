/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a trace of the kernel's memory has beside its tables: former looks, and slab caches. */
#ifndef SESSION_TRACE_TRACE_KERNEL_LOOKS_H
#define SESSION_TRACE_TRACE_KERNEL_LOOKS_H

#include "src/kernel/kernel_rows.h"
#include "src/session/session.h"
#include "src/view/trace/trace_view.h"

/* All zero: not asked for. */
struct trace_kernel {
	bool wanted;
	uint32_t sample;
	struct slabinfo first, now;
	struct kernel_rows before;	/* sites of the result before */
	bool looked;			/* there was one */
};

/* Take the first look, and say what tracing costs. */
void trace_kernel_start(struct trace_kernel *k, const struct kernel_options *o,
			const struct session_sink *to);

/* Before tables are read again: keep the sites. */
void trace_kernel_look(struct trace_kernel *k, struct kernel_rows rows[KERNEL_NR_TABLES]);

/* Afterwards: complete the result. */
void trace_kernel_result(struct trace_kernel *k, struct trace_result *result);

/* The function that an allocation (TRACE_KERNEL_ALLOC) is for; "": it has no name. */
void trace_kernel_caller(struct ksyms *names, const struct trace_record *r, char *to, size_t room);

void trace_kernel_fini(struct trace_kernel *k);

#endif
