/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of the kernel's functions, from /proc/kallsyms, read once when the first is asked for.
 *
 * The kernel shows addresses of zero to those who have not CAP_SYSLOG, or to all
 * (kernel.kptr_restrict): there are no names then.
 */
#ifndef KERNEL_KSYMS_H
#define KERNEL_KSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/base/hash.h"
#include "src/base/str.h"
#include "src/base/vec.h"

struct ksym {
	uint64_t address;
	uint32_t name;			/* where in ksyms.names */
	uint32_t module;		/* number in ksyms.modules; 0: the kernel itself */
};

/* All zero is empty and not read yet. */
struct ksyms {
	VEC(struct ksym) v;		/* by address */
	VEC(char) names;		/* each with its NUL */
	struct intern modules;
	bool tried;
	int rc;				/* of reading */
	struct err err;
};

struct ksym_name {
	const char *name;		/* NULL: no function is known there */
	const char *module;		/* NULL: the kernel itself */
	uint64_t offset;		/* from its entry */
};

/*
 * The function at an address. *out is always set; strings are valid until ksyms_fini(). 0; -EPERM:
 * addresses are hidden from us; another -errno: the file cannot be read; with `e` set.
 */
int ksyms_find(struct ksyms *k, uint64_t address, struct ksym_name *out, struct err *e);

/* Add "alloc_pipe_info+0x4c [module]" to `out`; false, and nothing: no function is known there. */
bool ksyms_add(struct ksyms *k, uint64_t address, struct str *out);

/* Read text of that form instead of the file: 0, -EPERM or -ENOMEM. */
int ksyms_parse(struct ksyms *k, const char *text, size_t bytes, struct err *e);

void ksyms_fini(struct ksyms *k);

#endif
