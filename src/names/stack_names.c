/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the frames of traced stacks are called. */
#include "src/names/stack_names.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/arena.h"
#include "src/base/hash.h"
#include "src/kernel/ksyms.h"
#include "src/kernel/stack_table.h"
#include "src/proc/limits.h"

struct stack_names {
	const struct modules *modules;
	struct symbolizer *sym;
	struct hash_map known;		/* number of a module -> the symbolizer's */
	struct ksyms kernel;
	bool kernel_asked;
	struct err kernel_err;
	int kernel_rc;
	struct intern strings;		/* "[ext4]" */
};

struct stack_names *stack_names_new(const struct modules *modules,
				    const struct symbolizer_options *options)
{
	struct symbolizer_options o = options ? *options : (struct symbolizer_options){ 0 };
	struct stack_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	if (!o.max_bytes)
		o.max_bytes = limits_share("");
	n->modules = modules;
	n->sym = symbolizer_new(&o);
	if (!n->sym) {
		free(n);
		return NULL;
	}
	return n;
}

void stack_names_free(struct stack_names *n)
{
	if (!n)
		return;
	symbolizer_free(n->sym);
	hash_fini(&n->known);
	ksyms_fini(&n->kernel);
	intern_fini(&n->strings);
	free(n);
}

/*
 * The symbolizer's number of a module, -1: there is none. A file that is not open any more is known
 * again by its build id only.
 */
static int64_t module_known(struct stack_names *n, uint32_t number)
{
	uint32_t *known = hash_find(&n->known, number);
	const struct module *m;
	int added;

	if (known)
		return *known;
	m = number && number < n->modules->v.nr ? modules_at(n->modules, number) : NULL;
	if (!m || (m->fd < 0 && m->ino && !m->file.build_id_len))
		return -1;
	added = symbolizer_add(n->sym, &(struct symbol_module){
		.path = m->path,
		.build_id = m->file.build_id,
		.build_id_len = m->file.build_id_len,
		.open = m->fd >= 0,
		.fd = m->fd,
	});
	return added < 0 || hash_put(&n->known, number, (uint32_t)added) ? -1 : added;
}

static unsigned find_user(struct stack_names *n, uint32_t number, struct stack_name *out,
			  unsigned max)
{
	struct symbol_frame frame[SYMBOL_FRAMES_MAX];
	int64_t module = module_known(n, number);
	int nr;

	if (module < 0)
		return 1;
	nr = symbol_lookup(n->sym, (uint32_t)module, out->address, frame,
			   max < SYMBOL_FRAMES_MAX ? (int)max : SYMBOL_FRAMES_MAX);
	for (int i = 0; i < nr; i++) {
		out[i] = (struct stack_name){ .module = out->module, .address = out->address };
		if (!frame[i].named)
			continue;
		out[i].function = frame[i].function;
		out[i].linkage = frame[i].linkage;
		out[i].file = frame[i].file;
		out[i].line = frame[i].line;
		out[i].offset = frame[i].offset;
		out[i].inlined = frame[i].inlined;
	}
	return nr > 0 ? (unsigned)nr : 1;
}

/* The name of a kernel's module in brackets, kept. */
static const char *bracketed(struct stack_names *n, const char *module)
{
	char text[80] = "[";
	int64_t number;

	strncat(text, module, sizeof(text) - 3);
	strcat(text, "]");
	number = intern_add(&n->strings, text);
	return number < 0 ? "[kernel]" : intern_text(&n->strings, (uint32_t)number);
}

static void find_kernel(struct stack_names *n, struct stack_name *out)
{
	struct ksym_name name;

	n->kernel_rc = ksyms_find(&n->kernel, out->address, &name, &n->kernel_err);
	n->kernel_asked = true;
	out->module = name.module ? bracketed(n, name.module) : "[kernel]";
	out->function = out->linkage = name.name;
	out->offset = name.offset;
}

unsigned stack_names_find(struct stack_names *n, uint64_t frame, struct stack_name *out,
			  unsigned max)
{
	uint32_t module = stack_frame_module(frame);

	if (!max)
		return 0;
	*out = (struct stack_name){ .address = stack_frame_address(frame) };
	if (module == STACK_KERNEL) {
		find_kernel(n, out);
		return 1;
	}
	if (module && module < n->modules->v.nr)
		out->module = modules_at(n->modules, module)->path;
	return find_user(n, module, out, max);
}

const struct err *stack_names_kernel(const struct stack_names *n)
{
	return n->kernel_asked && n->kernel_rc ? &n->kernel_err : NULL;
}

int stack_names_error(const struct stack_names *n)
{
	return symbolizer_error(n->sym);
}
