/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The roots of a core file: blocks from the capture that was written when the process had died,
 * memory from the core.
 *
 * They belong together when the process number does, as the process itself saw it, and every module
 * is where the capture says with the build id that it says. A capture has no note of blocks on
 * their way (struct pmm_move): threads that died inside realloc are recognised by a return address
 * into the agent near the top of their stacks.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/nanotime.h"
#include "src/base/str.h"
#include "src/store/capture.h"
#include "src/ledger/preload.h"
#include "src/roots/roots.h"
#include "src/roots/roots_state_priv.h"

#define MAX_PHDRS	64
#define MAX_NOTE	4096u
/* of a stack in which the return address to a hook is looked for */
#define HOOK_BYTES	2048u
/* how large a block on its way may be: its size is not known */
#define MOVE_BYTES	(64ull << 20)

/* ---- do they belong together? ---------------------------------------------------------------- */

static int not_together(const char *core, const char *capture, const char *why, struct err *e)
{
	err_set(e, -EINVAL, "'%s' and '%s' are not of the same process: %s", core, capture, why);
	err_hint(e, "name the capture that 'pmm run' wrote when this process died");
	return -EINVAL;
}

static bool same_pid(const struct heap *h, const struct core *c)
{
	bool same = !c->pid || (uint32_t)c->pid == h->pid;

	for (uint32_t i = 0; !same && i < h->nr_threads; i++)
		same = h->threads[i].tid == (uint32_t)c->pid;	/* in a pid namespace of its own */
	return same;
}

/* Compare the build id among an object's notes. True also where it cannot be read. */
static bool same_build_id(const struct core *c, const struct heap_module *m, uint64_t start,
			  uint64_t bytes)
{
	union { unsigned char byte[MAX_NOTE]; Elf64_Nhdr nh; } note;
	size_t n = core_read(c, start, note.byte, bytes < MAX_NOTE ? bytes : MAX_NOTE);

	for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= n; ) {
		const Elf64_Nhdr *nh = (const Elf64_Nhdr *)(const void *)(note.byte + at);
		size_t name = at + sizeof(*nh), value = name + (((size_t)nh->n_namesz + 3) & ~3ul);
		size_t next = value + (((size_t)nh->n_descsz + 3) & ~3ul);

		if (next > n)
			break;
		if (nh->n_type == NT_GNU_BUILD_ID && nh->n_namesz == 4 &&
		    !memcmp(note.byte + name, "GNU", 4))
			return nh->n_descsz == m->build_id_len &&
			       !memcmp(note.byte + value, m->build_id, m->build_id_len);
		at = next;
	}
	return true;
}

static bool same_file(const struct core *c, const struct heap_module *m, const struct proc_map *map)
{
	Elf64_Phdr ph[MAX_PHDRS];
	Elf64_Ehdr eh;
	size_t bytes;

	if (!m->build_id_len || core_read(c, map->start, &eh, sizeof(eh)) != sizeof(eh) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) || eh.e_phentsize != sizeof(ph[0]) ||
	    eh.e_phnum > MAX_PHDRS)
		return true;
	bytes = eh.e_phnum * sizeof(ph[0]);
	if (core_read(c, map->start + eh.e_phoff, ph, bytes) != bytes)
		return true;
	for (unsigned i = 0; i < eh.e_phnum; i++)
		if (ph[i].p_type == PT_NOTE &&
		    !same_build_id(c, m, m->bias + ph[i].p_vaddr, ph[i].p_filesz))
			return false;
	return true;
}

static bool same_path(const char *a, const char *b)
{
	size_t n = strlen(a);

	return !strncmp(a, b, n) && (!b[n] || !strcmp(b + n, " (deleted)"));
}

/* Is a module where the capture says? */
static bool module_there(const struct core *c, const struct heap_module *m)
{
	for (size_t i = 0; i < c->maps.nr; i++) {
		const struct proc_map *map = &c->maps.v[i];

		if (m->start >= map->start && m->start < map->end)
			return same_path(m->path, map->path) && same_file(c, m, map);
	}
	return false;
}

static int check_together(const struct heap *h, const struct core *c, const char *core,
			  const char *capture, struct err *e)
{
	char why[256];

	if (h->end == HEAP_RUNNING) {
		err_set(e, -EINVAL,
			"'%s' was taken while the process still ran, so its blocks are not those "
			"of the core file",
			capture);
		err_hint(e, "name the capture that 'pmm run' wrote when this process died");
		return -EINVAL;
	}
	if (!same_pid(h, c)) {
		snprintf(why, sizeof(why), "the core is of process %d, the capture of %u",
			 (int)c->pid, h->pid);
		return not_together(core, capture, why, e);
	}
	if (h->end != HEAP_KILLED || c->signal != h->end_status) {
		err_set(e, -EINVAL,
			"'%s' was not written when process %u died, so its memory is not that of "
			"the capture's blocks",
			core, h->pid);
		err_hint(e, "a core that a debugger takes of a running process does not fit; 'pmm "
			    "leaks PID' searches that");
		return -EINVAL;
	}
	for (uint32_t i = 1; i < h->nr_modules; i++) {
		const struct heap_module *m = &h->modules[i];

		if (m->unload_ns || m->path[0] != '/' || module_there(c, m))
			continue;
		snprintf(why, sizeof(why), "'%.150s' is not where it was, or is another file",
			 m->path);
		return not_together(core, capture, why, e);
	}
	return 0;
}

/* ---- threads that died inside realloc -------------------------------------------------------- */

/* The agent's code, [start, end) = [0, 0) when it is not there. */
static struct memory_span agent_code(const struct core *c)
{
	struct memory_span code = { 0 };

	for (size_t i = 0; i < c->maps.nr; i++) {
		const struct proc_map *m = &c->maps.v[i];

		if (!(m->perms & PROC_MAP_EXEC) || !preload_is_agent(m->path))
			continue;
		code = (struct memory_span){ m->start, m->end };
	}
	return code;
}

static int moves_guess(struct roots *s)
{
	const struct core *c = &s->state->core;
	const struct memory_span code = agent_code(c);
	uint64_t word[HOOK_BYTES / 8];
	int rc = 0;

	for (size_t i = 0; !rc && i < c->threads.nr; i++) {
		const struct process_copy_thread *t = &c->threads.v[i];
		const uint64_t sp = arch_sp(&t->regs) & ~7ull;
		size_t n = core_read(c, sp, word, sizeof(word)) / 8, top = 0;

		for (size_t k = 0; k < n; k++)
			if (word[k] >= code.start && word[k] < code.end)
				top = k + 1;
		if (i == 0 && c->signal)
			continue;		/* this one died of what it did itself */
		if (top)
			rc = vec_push(&s->state->precopy.moves,
				      (struct precopy_move){ .to_bytes = MOVE_BYTES,
							     .tid = (uint32_t)t->tid,
							     .sp = sp + top * 8 });
	}
	return rc;
}

/* ---- all ------------------------------------------------------------------------------------- */

static int core_read_all(struct roots *s, const char *core_path, const char *capture_path,
			 uint64_t max_bytes, struct err *e)
{
	const struct roots_options o = { 0 };
	int rc = capture_read(capture_path, max_bytes, &s->heap, e);

	if (!rc)
		rc = core_open(core_path, &s->state->core, e);
	if (rc)
		return rc;
	rc = check_together(s->heap, &s->state->core, core_path, capture_path, e);
	if (rc)
		return rc;
	if (moves_guess(s))
		return err_set(e, -ENOMEM, "not enough memory to search for leaks");
	s->complete = roots_complete(s->heap);
	return roots_settle(s, NULL, &s->state->core, &o, e);
}

int roots_core(const char *core_path, const char *capture_path, uint64_t max_bytes, struct roots *s,
	       struct err *e)
{
	int rc;

	*s = (struct roots){ .begun_ns = nanotime(), .state = calloc(1, sizeof(*s->state)) };
	if (!s->state)
		return err_set(e, -ENOMEM, "not enough memory to search for leaks");
	rc = core_read_all(s, core_path, capture_path, max_bytes, e);
	if (rc)
		roots_free(s);
	return rc;
}
