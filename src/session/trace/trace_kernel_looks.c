/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks at the kernel's memory. */
#include "src/session/trace/trace_kernel_looks.h"

#include <stdio.h>

#include "src/base/nanotime.h"

void trace_kernel_start(struct trace_kernel *k, const struct kernel_options *o,
			const struct session_sink *to)
{
	struct err e = { 0 };

	k->wanted = true;
	k->sample = kernel_kmem_sample(o);
	if (slabinfo_read(&k->first, &e))
		session_warn(to, "no table of slab caches, because %s", e.text);
	if (k->sample == 1)
		session_note(to, "every allocation of the kernel is followed: "
				 "system calls that allocate may take seven times as long");
}

void trace_kernel_look(struct trace_kernel *k, struct kernel_rows rows[KERNEL_NR_TABLES])
{
	struct kernel_rows former = k->before;

	if (!k->wanted || !rows[KERNEL_TABLE_KMEM_SITES].key_bytes)
		return;
	k->before = rows[KERNEL_TABLE_KMEM_SITES];
	rows[KERNEL_TABLE_KMEM_SITES] = former;
	k->looked = true;
}

void trace_kernel_result(struct trace_kernel *k, struct trace_result *result)
{
	if (!k->wanted)
		return;
	result->now_ns = nanotime();
	result->kmem_sample = k->sample;
	result->sites_before = k->looked ? &k->before : NULL;
	if (k->first.v.nr && !slabinfo_read(&k->now, NULL)) {
		result->slabs = &k->now;
		result->slabs_before = &k->first;
	}
}

void trace_kernel_caller(struct ksyms *names, const struct trace_record *r, char *to, size_t room)
{
	struct str name = STR_INIT;

	*to = '\0';
	if (r->a[2] && ksyms_add(names, r->a[2], &name))
		snprintf(to, room, "%s", str_text(&name));
	str_fini(&name);
}

void trace_kernel_fini(struct trace_kernel *k)
{
	slabinfo_fini(&k->first);
	slabinfo_fini(&k->now);
	kernel_rows_fini(&k->before);
}
