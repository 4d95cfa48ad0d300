/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A core file opened: its headers and notes. */
#include "src/core/core.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/elf_arch.h"
#include "src/core/core_memory.h"
#include "src/core/core_notes.h"

#define MAX_NOTE_BYTES	(1ull << 30)	/* of all segments: 100000 threads have 400 MB */
#define MAX_NOTES	64		/* segments; there is one as a rule */

static int damaged(const char *path, struct err *e)
{
	return err_set(e, -EBADMSG, "'%s' is damaged or cut short", path);
}

static void hint_cores(struct err *e)
{
	err_hint(e, "'coredumpctl dump -o FILE PID' writes one that systemd keeps, 'gcore PID' one "
		    "of a running process");
}

static int no_core(const char *path, const unsigned char *head, struct err *e)
{
	static const struct { const char *magic; size_t nr;
	} packed[] = {
		{ "\x28\xb5\x2f\xfd", 4 },
		{ "\x04\x22\x4d\x18", 4 },
		{ "\xfd"
		  "7zXZ",
		  5 },
		{ "\x1f\x8b", 2 },
	};

	err_set(e, -EBADMSG, "'%s' is no core file", path);
	hint_cores(e);
	for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++)
		if (!memcmp(head, packed[i].magic, packed[i].nr))
			err_hint(e,
				 "it is compressed: unpack it first, or have coredumpctl dump it");
	return -EBADMSG;
}

static int read_head(const struct core_state *state, const char *path, Elf64_Ehdr *eh,
		     struct err *e)
{
	size_t n;

	*eh = (Elf64_Ehdr){ 0 };
	n = core_read_at(state->fd, 0, eh, sizeof(*eh));
	if (memcmp(eh->e_ident, ELFMAG, SELFMAG))
		return no_core(path, eh->e_ident, e);
	if (n < sizeof(*eh))
		return damaged(path, e);
	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_DATA] != ELFDATA2LSB ||
	    eh->e_machine != ARCH_ELF_MACHINE)
		return err_set(e, -EPROTO, "'%s' is not of a 64-bit " ARCH_NAME " program", path);
	if (eh->e_type != ET_CORE)
		return no_core(path, eh->e_ident, e);
	return 0;
}

/*
 * All program headers, caller frees. Where there are too many for the ELF header the first section
 * header has their number.
 */
static int read_headers(const struct core_state *state, const char *path, const Elf64_Ehdr *eh,
			Elf64_Phdr **out, size_t *nr, struct err *e)
{
	Elf64_Shdr sh;

	*nr = eh->e_phnum;
	if (*nr == PN_XNUM) {
		if (core_read_at(state->fd, eh->e_shoff, &sh, sizeof(sh)) != sizeof(sh))
			return damaged(path, e);
		*nr = sh.sh_info;
	}
	if (!*nr || eh->e_phentsize != sizeof(Elf64_Phdr) || *nr > PROC_MAX_MAPS + MAX_NOTES ||
	    *nr > state->size_bytes / sizeof(Elf64_Phdr))
		return damaged(path, e);
	*out = malloc(*nr * sizeof(**out));
	if (!*out)
		return err_set(e, -ENOMEM, "out of memory");
	return core_read_at(state->fd, eh->e_phoff, *out, *nr * sizeof(**out)) ==
			       *nr * sizeof(**out)
		       ? 0
		       : damaged(path, e);
}

static int read_notes(struct core *c, const Elf64_Phdr *ph, uint64_t *budget)
{
	uint64_t bytes = ph->p_filesz;
	void *text;
	int rc;

	if (ph->p_offset >= c->state->size_bytes)
		return 0;
	if (bytes > c->state->size_bytes - ph->p_offset)
		bytes = c->state->size_bytes - ph->p_offset;
	if (!bytes || bytes > *budget)
		return 0;
	*budget -= bytes;
	text = malloc(bytes);
	if (!text)
		return -ENOMEM;
	rc = core_notes_parse(text, core_read_at(c->state->fd, ph->p_offset, text, bytes), c,
			      &c->state->notes);
	free(text);
	return rc;
}

static int read_all(struct core *c, const char *path, struct err *e)
{
	uint64_t budget = MAX_NOTE_BYTES;
	unsigned nr_notes = 0;
	Elf64_Phdr *ph = NULL;
	Elf64_Ehdr eh;
	size_t nr;
	int rc = read_head(c->state, path, &eh, e);

	if (!rc)
		rc = read_headers(c->state, path, &eh, &ph, &nr, e);
	if (rc) {
		free(ph);
		return rc;
	}
	for (size_t i = 0; !rc && i < nr; i++) {
		if (ph[i].p_type == PT_NOTE && nr_notes++ < MAX_NOTES)
			rc = read_notes(c, &ph[i], &budget);
		else if (ph[i].p_type == PT_LOAD)
			rc = core_memory_add(c->state, &ph[i]);
	}
	free(ph);
	if (!rc)
		rc = core_memory_finish(c);
	if (rc)
		return err_set(e, rc, "out of memory");
	return c->threads.nr && c->state->segments.nr ? 0 : damaged(path, e);
}

int core_open(const char *path, struct core *c, struct err *e)
{
	struct stat st = { 0 };
	int rc = 0;

	*c = (struct core){ 0 };
	c->state = calloc(1, sizeof(*c->state));
	if (!c->state)
		return err_set(e, -ENOMEM, "out of memory");
	c->state->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (c->state->fd < 0 || fstat(c->state->fd, &st))
		rc = err_set(e, -errno, "cannot open '%s': %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		rc = err_set(e, -EBADMSG, "'%s' is no core file", path);
	if (rc == -ENOENT || rc == -EBADMSG)
		hint_cores(e);
	if (!rc) {
		c->state->size_bytes = (uint64_t)st.st_size;
		c->state->mtime = st.st_mtim;
		rc = read_all(c, path, e);
	}
	if (rc)
		core_close(c);
	return rc;
}

void core_close(struct core *c)
{
	struct core_state *state = c->state;

	if (!state)
		return;
	core_memory_fini(state);
	if (state->fd >= 0)
		close(state->fd);
	free(state);
	vec_each(&c->threads, t)
		free(t->words);
	vec_fini(&c->threads);
	proc_maps_fini(&c->maps);
	*c = (struct core){ 0 };
}
