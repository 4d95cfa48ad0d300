/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory in a core file: segments by address, and the files that were mapped. */
#include "src/core/core_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "src/core/core.h"

#define MAX_FILES	512		/* held open */
#define HEAD_BYTES	4096		/* of a file, that identify it */
#define MAX_LOADS	64		/* program headers of a mapped file */

/* ---- reading --------------------------------------------------------------------------------- */

size_t core_read_at(int fd, uint64_t offset, void *to, size_t bytes)
{
	size_t done = 0;

	while (done < bytes && offset + done <= INT64_MAX) {
		ssize_t n = pread(fd, (char *)to + done, bytes - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

static const struct core_segment *segment_at(const struct core_state *state, uint64_t address)
{
	size_t i = vec_while(&state->segments, p, p->end <= address);

	return i < state->segments.nr && state->segments.v[i].start <= address
		       ? &state->segments.v[i]
		       : NULL;
}

size_t core_read(const struct core *c, uint64_t address, void *to, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		const uint64_t at = address + done;
		const struct core_segment *s = segment_at(c->state, at);
		size_t part = bytes - done, n = 0;
		uint64_t inside;

		if (!s)
			break;
		inside = at - s->start;
		if (inside < s->bytes) {
			part = s->bytes - inside < part ? s->bytes - inside : part;
			n = core_read_at(c->state->fd, s->offset + inside, (char *)to + done, part);
		} else if (s->file != CORE_NO_FILE && c->state->files.v[s->file].fd >= 0) {
			part = s->end - at < part ? s->end - at : part;
			n = core_read_at(c->state->files.v[s->file].fd, s->file_offset + inside,
					 (char *)to + done, part);
		}
		done += n;
		if (n < part || !n)
			break;
	}
	return done;
}

/* ---- what there is to read ------------------------------------------------------------------- */

/* Memory that is in a row in one file; fd -1: nowhere. */
struct piece {
	uint64_t start, end;
	uint64_t offset;		/* of `start` in the file */
	int fd;
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Where an address of a segment is, and for how long. */
static struct piece piece_at(const struct core_state *state, const struct core_segment *s,
			     uint64_t at)
{
	const uint64_t inside = at - s->start;
	const struct core_file *f = s->file != CORE_NO_FILE ? &state->files.v[s->file] : NULL;
	struct piece p = { .start = at, .end = s->end, .fd = -1 };

	if (inside < s->bytes) {
		p.fd = state->fd;
		p.offset = s->offset + inside;
		p.end = s->start + s->bytes;
	} else if (f && f->fd >= 0 && s->file_offset + inside >= inside &&
		   s->file_offset + inside < f->size_bytes) {
		p.fd = f->fd;
		p.offset = s->file_offset + inside;
		p.end = at + least(s->end - at, f->size_bytes - p.offset);
	}
	return p;
}

/*
 * Bytes from an offset on, at most `bytes`, that are a hole. A file system without holes says that
 * there are none.
 */
static uint64_t hole_bytes(int fd, uint64_t offset, uint64_t bytes)
{
	off_t data = offset <= INT64_MAX ? lseek(fd, (off_t)offset, SEEK_DATA) : -1;

	if (data < 0)
		return errno == ENXIO ? bytes : 0;
	return (uint64_t)data > offset ? least((uint64_t)data - offset, bytes) : 0;
}

static int piece_there(const struct piece *p, int (*add)(void *arg, uint64_t start, uint64_t end),
		       void *arg)
{
	uint64_t done = 0, bytes = p->end - p->start;
	int rc = 0;

	while (!rc && (done += hole_bytes(p->fd, p->offset + done, bytes - done)) < bytes) {
		off_t hole = lseek(p->fd, (off_t)(p->offset + done), SEEK_HOLE);
		uint64_t end = hole > (off_t)(p->offset + done)
				       ? least((uint64_t)hole - p->offset, bytes)
				       : bytes;

		rc = add(arg, p->start + done, p->start + end);
		done = end;
	}
	return rc;
}

int core_there(const struct core *c, uint64_t start, uint64_t end,
	       int (*add)(void *arg, uint64_t start, uint64_t end), void *arg, uint64_t *absent)
{
	const struct core_state *state = c->state;
	int rc = 0;

	for (size_t i = vec_while(&state->segments, s, s->end <= start);
	     !rc && i < state->segments.nr; i++) {
		const struct core_segment *s = &state->segments.v[i];

		if (s->start >= end)
			break;
		for (uint64_t at = s->start > start ? s->start : start;
		     !rc && at < s->end && at < end;) {
			struct piece p = piece_at(state, s, at);

			p.end = least(p.end, end);
			if (p.fd >= 0)
				rc = piece_there(&p, add, arg);
			else
				*absent += p.end - p.start;
			at = p.end;
		}
	}
	return rc;
}

uint64_t core_untouched(const struct core *c, uint64_t address, uint64_t bytes)
{
	const struct core_segment *s = segment_at(c->state, address);
	struct piece p;

	if (!s)
		return 0;
	p = piece_at(c->state, s, address);
	return p.fd < 0 ? 0 : hole_bytes(p.fd, p.offset, least(bytes, p.end - address));
}

static uint32_t perms_of(uint32_t flags)
{
	return (flags & PF_R ? PROC_MAP_READ : 0) | (flags & PF_W ? PROC_MAP_WRITE : 0) |
	       (flags & PF_X ? PROC_MAP_EXEC : 0);
}

/* ---- the mapped files ------------------------------------------------------------------------ */

/* Is it what was mapped? */
static bool is_same(const struct core_state *state, const struct core_file *f, int fd,
		    const struct stat *st)
{
	char ours[HEAD_BYTES], theirs[HEAD_BYTES];
	const struct core_segment *s;
	size_t n;

	if (!f->head)
		return st->st_mtim.tv_sec < state->mtime.tv_sec ||
		       (st->st_mtim.tv_sec == state->mtime.tv_sec &&
			st->st_mtim.tv_nsec <= state->mtime.tv_nsec);
	s = &state->segments.v[f->head - 1];
	n = core_read_at(state->fd, s->offset, ours, s->bytes < HEAD_BYTES ? s->bytes : HEAD_BYTES);
	if ((uint64_t)st->st_size < n)
		n = (size_t)st->st_size;	/* behind its end a mapping is zero */
	return n && core_read_at(fd, 0, theirs, n) == n && !memcmp(ours, theirs, n);
}

static void file_open(const struct core_state *state, struct core_file *f)
{
	struct stat st;
	int fd;

	f->ino = 1;		/* a file, which one is not known */
	/* opening a device or a pipe could have effects */
	if (stat(f->path, &st) || !S_ISREG(st.st_mode))
		return;
	fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !is_same(state, f, fd, &st)) {
		close(fd);
		return;
	}
	f->ino = st.st_ino;
	f->dev = st.st_dev;
	f->size_bytes = (uint64_t)st.st_size;
	if (f->wanted)
		f->fd = fd;
	else
		close(fd);
}

/* How a mapping of an ELF file is protected that the core says nothing of: as the file asks for. */
static void learn_perms(const struct core_state *state, struct core_segment *s)
{
	const struct core_file *f = &state->files.v[s->file];
	Elf64_Phdr ph[MAX_LOADS];
	Elf64_Ehdr eh;

	if (f->fd < 0 || core_read_at(f->fd, 0, &eh, sizeof(eh)) != sizeof(eh) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_phnum > MAX_LOADS || eh.e_phentsize != sizeof(ph[0]) ||
	    core_read_at(f->fd, eh.e_phoff, ph, eh.e_phnum * sizeof(ph[0])) !=
		    eh.e_phnum * sizeof(ph[0]))
		return;
	for (unsigned i = 0; i < eh.e_phnum; i++)
		if (ph[i].p_type == PT_LOAD &&
		    s->file_offset >= ph[i].p_offset - ph[i].p_offset % HEAD_BYTES &&
		    s->file_offset < ph[i].p_offset + ph[i].p_filesz)
			s->perms = perms_of(ph[i].p_flags);
}

/*
 * The number of a file, which is added when it is a new one; CORE_NO_FILE when there are too many.
 */
static uint32_t file_number(struct core_state *state, const char *path)
{
	for (size_t i = state->files.nr; i-- > 0; )
		if (!strcmp(state->files.v[i].path, path))
			return (uint32_t)i;
	if (state->files.nr >= MAX_FILES ||
	    vec_push(&state->files, (struct core_file){ .path = path, .fd = -1 }))
		return CORE_NO_FILE;
	return (uint32_t)(state->files.nr - 1);
}

static void files_open(struct core_state *state)
{
	for (size_t i = 0; i < state->segments.nr; i++) {
		struct core_segment *s = &state->segments.v[i];
		const struct core_mapped *m = core_notes_mapped(&state->notes, s->start);

		s->file = m ? file_number(state, m->path) : CORE_NO_FILE;
		if (s->file == CORE_NO_FILE)
			continue;
		s->file_offset = m->offset + (s->start - m->start);
		if (!s->file_offset && s->bytes)
			state->files.v[s->file].head = i + 1;
		state->files.v[s->file].wanted |= s->bytes < s->end - s->start;
	}
	vec_each(&state->files, f)
		file_open(state, f);
	vec_each(&state->segments, s)
		if (s->file != CORE_NO_FILE && s->unwritten)
			learn_perms(state, s);
}

/* ---- segments -------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
	const struct core_segment *x = a, *y = b;

	return x->start != y->start ? (x->start < y->start ? -1 : 1)
	       : x->end < y->end    ? -1
				    : x->end > y->end;
}

static void drop_overlapping(struct core_state *state)
{
	size_t kept = 0;

	vec_sort(&state->segments, by_address);
	vec_each(&state->segments, s)
		if (!kept || s->start >= state->segments.v[kept - 1].end)
			state->segments.v[kept++] = *s;
	state->segments.nr = kept;
}

int core_memory_add(struct core_state *state, const Elf64_Phdr *ph)
{
	struct core_segment s = { .start = ph->p_vaddr,
				  .end = ph->p_vaddr + ph->p_memsz,
				  .bytes = ph->p_filesz,
				  .offset = ph->p_offset };

	if (s.end <= s.start)
		return 0;
	if (s.bytes > ph->p_memsz)
		s.bytes = ph->p_memsz;
	if (s.offset >= state->size_bytes)
		s.bytes = 0;		/* the core is cut short */
	else if (s.bytes > state->size_bytes - s.offset)
		s.bytes = state->size_bytes - s.offset;
	s.perms = perms_of(ph->p_flags);
	return vec_push(&state->segments, s);
}

/* File mappings of which a debugger has written no segment; see learn_perms(). */
static int add_unwritten(struct core_state *state)
{
	const size_t nr = state->segments.nr;
	int rc = 0;

	for (size_t i = 0; !rc && i < state->notes.mapped.nr; i++) {
		const struct core_mapped *m = &state->notes.mapped.v[i];
		/* of those that were written */
		size_t k = array_while(state->segments.v, nr, s, s->end <= m->start);

		if (k == nr || state->segments.v[k].start >= m->end)
			rc = vec_push(&state->segments,
				      (struct core_segment){ .start = m->start,
							     .end = m->end,
							     .perms = PROC_MAP_READ,
							     .unwritten = true });
	}
	vec_sort(&state->segments, by_address);
	return rc;
}

static const char *name_of(const struct core_state *state, const struct core_segment *s)
{
	const struct core_mapped *m = core_notes_mapped(&state->notes, s->start);

	if (m)
		return m->path;
	if (state->notes.on_stack >= s->start && state->notes.on_stack < s->end)
		return "[stack]";
	return state->notes.vdso == s->start ? "[vdso]" : "";
}

static int list_maps(struct core *c)
{
	const struct core_state *state = c->state;

	c->maps.v = calloc(state->segments.nr + 1, sizeof(*c->maps.v));
	if (!c->maps.v)
		return -ENOMEM;
	for (size_t i = 0; i < state->segments.nr; i++) {
		const struct core_segment *s = &state->segments.v[i];
		struct proc_map m = { .start = s->start,
				      .end = s->end,
				      .offset = s->file_offset,
				      .perms = s->perms };

		m.path = strdup(name_of(state, s));
		if (!m.path)
			return -ENOMEM;
		if (s->file != CORE_NO_FILE) {
			m.ino = state->files.v[s->file].ino;
			m.dev_major = major(state->files.v[s->file].dev);
			m.dev_minor = minor(state->files.v[s->file].dev);
		}
		c->maps.v[c->maps.nr++] = m;
	}
	return 0;
}

int core_memory_finish(struct core *c)
{
	struct core_state *state = c->state;
	int rc;

	drop_overlapping(state);
	core_notes_order(&state->notes);
	rc = add_unwritten(state);
	if (rc)
		return rc;
	files_open(state);
	return list_maps(c);
}

void core_memory_fini(struct core_state *state)
{
	vec_each(&state->files, f)
		if (f->fd >= 0)
			close(f->fd);
	vec_fini(&state->files);
	vec_fini(&state->segments);
	core_notes_fini(&state->notes);
}
