/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The notes of a core file (linux fs/binfmt_elf.c). A thread's come one behind the other,
 * NT_PRSTATUS first; debuggers write them in the same order.
 */
#include "src/core/core_notes.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>

#include "arch/stop_arch.h"
#include "src/ptrace/register_words.h"

#define MAX_THREADS	4194304		/* PID_MAX_LIMIT */
#define MAX_ENTRIES	4096		/* of the auxiliary vector */
#define MAX_IMAGE	65536		/* of vector registers */

_Static_assert(sizeof(((struct elf_prstatus *)0)->pr_reg) == sizeof(struct user_regs_struct),
	       "sys/procfs.h");

struct note {
	uint32_t type;
	const uint8_t *text;
	size_t bytes;
};

static int add_thread(struct core *c, const struct note *n)
{
	struct elf_prstatus status;
	struct process_copy_thread t = { 0 };
	int rc;

	if (n->bytes < sizeof(status) || c->threads.nr >= MAX_THREADS)
		return 0;
	memcpy(&status, n->text, sizeof(status));
	memcpy(&t.regs, &status.pr_reg, sizeof(t.regs));
	t.tid = status.pr_pid;
	arch_rewind(&t.regs);
	rc = register_words_fill(&t, NULL, 0);
	if (!rc && vec_push(&c->threads, t)) {
		free(t.words);
		rc = -ENOMEM;
	}
	if (!rc && c->threads.nr == 1) {
		c->signal = c->signal ? c->signal : status.pr_cursig;
		c->pid = c->pid ? c->pid : status.pr_pid;
	}
	return rc;
}

static int add_vectors(struct core *c, const struct note *n)
{
	if (!c->threads.nr || n->bytes > MAX_IMAGE)
		return 0;
	return register_words_fill(vec_last(&c->threads), n->text, n->bytes);
}

static void read_process(struct core *c, const struct note *n)
{
	struct elf_prpsinfo info;

	if (n->bytes < sizeof(info))
		return;
	memcpy(&info, n->text, sizeof(info));
	c->pid = info.pr_pid;
	memcpy(c->comm, info.pr_fname, sizeof(c->comm) - 1);
	c->comm[sizeof(c->comm) - 1] = '\0';
}

static void read_signal(struct core *c, const struct note *n)
{
	int32_t number;

	if (n->bytes < sizeof(number))
		return;
	memcpy(&number, n->text, sizeof(number));
	c->signal = number;
}

static void read_auxiliary(struct core_notes *notes, const struct note *n)
{
	uint64_t entry[2];

	for (size_t at = 0; at + sizeof(entry) <= n->bytes && at < MAX_ENTRIES * sizeof(entry);
	     at += sizeof(entry)) {
		memcpy(entry, n->text + at, sizeof(entry));
		if (entry[0] == AT_EXECFN)
			notes->on_stack = entry[1];
		else if (entry[0] == AT_SYSINFO_EHDR)
			notes->vdso = entry[1];
	}
}

/*
 * NT_FILE: how many, size of a page; that many of start, end and offset in pages; that many names.
 */
static int read_files(struct core_notes *notes, const struct note *n)
{
	uint64_t head[2], entry[3];
	const char *name, *end = (const char *)n->text + n->bytes;

	if (n->bytes < sizeof(head))
		return 0;
	memcpy(head, n->text, sizeof(head));
	if (head[0] > (n->bytes - sizeof(head)) / sizeof(entry) || head[0] > PROC_MAX_MAPS)
		return 0;
	name = (const char *)n->text + sizeof(head) + head[0] * sizeof(entry);
	for (uint64_t i = 0; i < head[0] && name < end; i++) {
		size_t length = strnlen(name, (size_t)(end - name));
		struct core_mapped m;

		memcpy(entry, n->text + sizeof(head) + i * sizeof(entry), sizeof(entry));
		m = (struct core_mapped){ entry[0], entry[1], entry[2] * head[1], NULL };
		if (name + length < end && m.start < m.end &&
		    m.offset + (m.end - m.start) > m.offset) {
			m.path = strdup(name);
			if (!m.path || vec_push(&notes->mapped, m)) {
				free(m.path);
				return -ENOMEM;
			}
		}
		name += length + 1;
	}
	return 0;
}

static int read_note(const struct note *n, struct core *c, struct core_notes *notes)
{
	switch (n->type) {
	case NT_PRSTATUS: return add_thread(c, n);
	case NT_PRFPREG:
	case NT_X86_XSTATE:
		return add_vectors(c, n); /* holds what the one before does, and more */
	case NT_FILE: return read_files(notes, n);
	case NT_PRPSINFO: read_process(c, n); break;
	case NT_SIGINFO: read_signal(c, n); break;
	case NT_AUXV: read_auxiliary(notes, n); break;
	}
	return 0;
}

int core_notes_parse(const void *text, size_t bytes, struct core *c, struct core_notes *notes)
{
	const uint8_t *p = text;
	int rc = 0;

	while (!rc && bytes >= sizeof(Elf64_Nhdr)) {
		uint64_t name, all;
		Elf64_Nhdr head;

		memcpy(&head, p, sizeof(head));
		name = ((uint64_t)head.n_namesz + 3) & ~3ull;
		all = sizeof(head) + name + head.n_descsz;
		if (all > bytes)
			break;
		/* "LINUX" is the owner of processors' registers */
		if ((head.n_namesz == 5 && !memcmp(p + sizeof(head), "CORE", 5)) ||
		    (head.n_namesz == 6 && !memcmp(p + sizeof(head), "LINUX", 6)))
			rc = read_note(&(struct note){ head.n_type, p + sizeof(head) + name,
						       head.n_descsz },
				       c, notes);
		all = (all + 3) & ~3ull;
		all = all < bytes ? all : bytes;
		p += all;
		bytes -= all;
	}
	return rc;
}

static int by_address(const void *a, const void *b)
{
	const struct core_mapped *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void core_notes_order(struct core_notes *notes)
{
	size_t kept = 0;

	vec_sort(&notes->mapped, by_address);
	vec_each(&notes->mapped, m) {
		if (kept && m->start < notes->mapped.v[kept - 1].end)
			free(m->path);
		else
			notes->mapped.v[kept++] = *m;
	}
	notes->mapped.nr = kept;
}

const struct core_mapped *core_notes_mapped(const struct core_notes *notes, uint64_t address)
{
	size_t i = vec_while(&notes->mapped, p, p->end <= address);

	return i < notes->mapped.nr && notes->mapped.v[i].start <= address ? &notes->mapped.v[i]
									   : NULL;
}

void core_notes_fini(struct core_notes *notes)
{
	vec_each(&notes->mapped, m)
		free(m->path);
	vec_fini(&notes->mapped);
}
