/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a root is called, in a few words. In full: leaks_hold_root.c. */
#include "src/session/leaks/leaks_root.h"

#include <inttypes.h>
#include <string.h>

#include "src/session/leaks/leaks_hold_priv.h"

static void add_thread(struct str *s, const struct heap *h, const char *what, uint32_t tid)
{
	str_addf(s, "%s of thread %" PRIu32, what, tid);
	for (uint32_t i = 0; i < h->nr_threads; i++)
		if (h->threads[i].tid == tid && h->threads[i].name[0]) {
			str_addf(s, " (%s)", h->threads[i].name);
			return;
		}
}

static void add_data(struct str *s, const struct leaks_root *k, uint64_t at)
{
	uint32_t module = hold_module_at(k->heap, at);
	struct symbol_variable v;

	if (!module) {
		str_addf(s, "memory at 0x%" PRIx64, at);
	} else if (!k->sym || !symbol_variable_plain(k->sym, module, at, &v)) {
		str_addf(s, "data of %s", k->heap->modules[module].path);
	} else {
		if (v.name)
			str_addf(s, "variable %s", v.name);
		else
			str_addf(s, "%s+0x%" PRIx64, v.section, at - v.start);
		if (!v.name || strcmp(k->heap->modules[module].path, k->heap->exe) != 0)
			str_addf(s, " of %s", v.module);
	}
}

void leaks_root_text(void *context, const struct leak_entry *e, struct str *s)
{
	const struct leaks_root *k = context;

	switch (e->root.kind) {
	case 0:
		break;
	case MEMORY_STACK + 1:
		add_thread(s, k->heap, "the stack", e->root.thread);
		break;
	case MEMORY_TLS + 1:
		add_thread(s, k->heap, "thread-local storage", e->root.thread);
		break;
	case MEMORY_REGISTER + 1:
		if (e->root.thread)
			add_thread(s, k->heap, "a register", e->root.thread);
		else
			str_add(s, "an epoll instance or a timer in the kernel");
		break;
	default:
		add_data(s, k, e->root.at);
	}
}
