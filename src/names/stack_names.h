/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the frames of traced stacks are called (src/kernel/stack_table.h): of processes, whether
 * they run still or not, and of the kernel. Each frame is looked up once.
 */
#ifndef NAMES_STACK_NAMES_H
#define NAMES_STACK_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/kernel/modules.h"
#include "src/symbol/symbol.h"

struct stack_name {
	const char *function;	/* demangled; NULL: not known */
	const char *linkage;	/* the same as the object file has it; NULL: not known */
	const char *file;	/* source; NULL: not known */
	/* path, "[vdso]"; of the kernel "[kernel]" or its module, "[ext4]"; NULL: in no file */
	const char *module;
	/* of the module's file; of the kernel; of the process if it is in no file */
	uint64_t address;
	uint64_t offset;	/* from the function's entry; 0 if inlined */
	uint32_t line;		/* 0: not known */
	bool inlined;		/* into the next one */
};

struct stack_names;

/* NULL: out of memory. `o` as symbolizer_new(). The modules are the caller's and outlive it. */
struct stack_names *stack_names_new(const struct modules *modules,
				    const struct symbolizer_options *o);
void stack_names_free(struct stack_names *n);

/*
 * What a frame stands for, innermost inlined function first: how many, 1 .. max. Strings are valid
 * until stack_names_free().
 */
unsigned stack_names_find(struct stack_names *n, uint64_t frame, struct stack_name *out,
			  unsigned max);

/* Why functions of the kernel have no names, once one was looked for; NULL: they have. */
const struct err *stack_names_kernel(const struct stack_names *n);

/* symbolizer_error(): names may be missing since then. */
int stack_names_error(const struct stack_names *n);

#endif
