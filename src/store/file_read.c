/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The `file` source: a heap from a .pmm capture.
 *
 * Every byte is covered by a checksum, every count is held against what a file of that size can
 * hold before memory is taken, and the finished heap is checked as a whole, so what a caller gets
 * is sound whatever wrote the file.
 */
#include "src/store/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/utf8.h"
#include "src/store/file_format.h"
#include "src/store/file_unpack.h"
#include "src/proc/limits.h"

/* A heap being read. */
struct reading {
	struct unpack *u;
	struct heap *h;
	struct file_frame *frames;
	uint32_t *node_frames; /* by node: number of its frame */
	uint32_t nr_frames;
	bool seen[FILE_NR_TABLES];
};

static void read_columns(struct reading *r, const struct file_table *t, void *rows)
{
	for (unsigned i = 0; i < t->nr_columns && !r->u->rc; i++)
		unpack_column(r->u, (char *)rows + (t->column[i].lived ? 0 : t->column[i].offset),
			      t->row_bytes, &t->column[i], r->u->section.count);
}

static void read_text(struct reading *r, char **field)
{
	char *text = unpack_text(r->u);

	if (!text)
		return;
	free(*field);
	*field = text;
}

static void read_head(struct reading *r)
{
	struct heap *h = r->h;

	read_columns(r, &file_tables[FILE_HEAD], h);
	read_text(r, &h->comm);
	read_text(r, &h->exe);
	read_text(r, &h->cmdline);
	read_text(r, &h->host);
	read_text(r, &h->allocator.path);
}

static void read_kernel(struct reading *r)
{
	read_columns(r, &file_tables[FILE_KERNEL], r->h);
	read_text(r, &r->h->kernel.unseen);
}

/* Memory for an array of the heap, in place of what heap_new() put there. */
static void *make_array(struct reading *r, const struct file_table *t)
{
	void **array = (void **)((char *)r->h + t->array);
	char *nr = (char *)r->h + t->nr;
	void *rows = unpack_alloc(r->u, r->u->section.count, t->row_bytes);

	if (!rows)
		return NULL;
	if (t == &file_tables[FILE_MODULES])
		free(r->h->modules[0].path);
	free(*array);
	*array = rows;
	if (t->nr_size == 8)
		*(uint64_t *)nr = r->u->section.count;
	else
		*(uint32_t *)nr = (uint32_t)r->u->section.count;
	return rows;
}

static void read_module_texts(struct reading *r)
{
	for (uint32_t i = 0; i < r->h->nr_modules && !r->u->rc; i++) {
		struct heap_module *m = &r->h->modules[i];

		read_text(r, &m->path);
		if (m->build_id_len > sizeof(m->build_id))
			unpack_damaged(r->u, "a build id is too long");
		else
			unpack_bytes(r->u, m->build_id, m->build_id_len);
	}
}

/* A text that has its place in the row, of `size` bytes. */
static void read_name(struct reading *r, char *name, size_t size)
{
	uint64_t n = unpack_number(r->u);

	if (n >= size) {
		unpack_damaged(r->u, "a name is too long");
		return;
	}
	unpack_bytes(r->u, name, n);
	utf8_mask(name, n, '?');
}

static void read_thread_names(struct reading *r)
{
	for (uint32_t i = 0; i < r->h->nr_threads && !r->u->rc; i++)
		read_name(r, r->h->threads[i].name, sizeof(r->h->threads[i].name));
}

static void read_finding_texts(struct reading *r)
{
	for (uint64_t i = 0; i < r->h->nr_findings && !r->u->rc; i++) {
		struct heap_finding *f = &r->h->findings[i];

		read_name(r, f->function, sizeof(f->function));
		read_text(r, &f->text);
		if (f->nr_code > sizeof(f->code) || f->nr_bytes > sizeof(f->bytes)) {
			unpack_damaged(r->u, "a heap error has too many bytes");
			break;
		}
		unpack_bytes(r->u, f->code, f->nr_code);
		unpack_bytes(r->u, f->bytes, f->nr_bytes);
	}
}

static void read_srcloc_texts(struct reading *r)
{
	for (uint32_t i = 0; i < r->h->nr_srclocs && !r->u->rc; i++) {
		read_text(r, &r->h->srclocs[i].file);
		read_text(r, &r->h->srclocs[i].function);
	}
}

static void read_mark_names(struct reading *r)
{
	for (uint32_t i = 0; i < r->h->nr_marks && !r->u->rc; i++)
		read_name(r, r->h->marks[i].name, sizeof(r->h->marks[i].name));
}

static void read_frames(struct reading *r)
{
	r->frames = unpack_alloc(r->u, r->u->section.count, sizeof(*r->frames));
	r->nr_frames = (uint32_t)r->u->section.count;
	if (r->frames)
		read_columns(r, &file_tables[FILE_FRAMES], r->frames);
}

static void read_nodes(struct reading *r)
{
	static const struct file_column number = {.bytes = sizeof(*r->node_frames)};
	struct heap_node *nodes = make_array(r, &file_tables[FILE_NODES]);

	r->node_frames = unpack_alloc(r->u, r->u->section.count, sizeof(*r->node_frames));
	if (!nodes || !r->node_frames)
		return;
	unpack_column(r->u, r->node_frames, sizeof(*r->node_frames), &number, r->u->section.count);
	read_columns(r, &file_tables[FILE_NODES], nodes);
}

static void read_array(struct reading *r, enum file_table_number number)
{
	void *rows = make_array(r, &file_tables[number]);

	if (rows)
		read_columns(r, &file_tables[number], rows);
	if (number == FILE_MODULES)
		read_module_texts(r);
	else if (number == FILE_THREADS)
		read_thread_names(r);
	else if (number == FILE_FINDINGS)
		read_finding_texts(r);
	else if (number == FILE_SRCLOCS)
		read_srcloc_texts(r);
	else if (number == FILE_MARKS)
		read_mark_names(r);
}

/* Parts of struct heap itself. */
static bool has_fixed_rows(enum file_table_number number)
{
	return file_is_of_heap(&file_tables[number]) || number == FILE_CLASSES;
}

static void read_table(struct reading *r, enum file_table_number number)
{
	const struct file_table *t = &file_tables[number];
	uint64_t count = r->u->section.count;

	unpack_begin(r->u, t->name);
	if (r->seen[number])
		unpack_damaged(r->u, "it is there twice");
	r->seen[number] = true;
	if (count > t->max_rows || (has_fixed_rows(number) && count != t->max_rows))
		unpack_damaged(r->u, "it cannot have %llu rows", (unsigned long long)count);
	if (r->u->rc)
		return;
	switch (number) {
	case FILE_HEAD:
		read_head(r);
		break;
	case FILE_CLASSES:
		read_columns(r, t, r->h->class);
		break;
	case FILE_FRAMES:
		read_frames(r);
		break;
	case FILE_NODES:
		read_nodes(r);
		break;
	case FILE_KERNEL:
		read_kernel(r);
		break;
	default:
		if (file_is_of_heap(t))
			read_columns(r, t, r->h);
		else
			read_array(r, number);
		break;
	}
	unpack_end(r->u);
}

/* Is it one of the tables of kernel events, of which there is another? */
static bool is_kernel_part_of(const struct reading *r, int number)
{
	bool any = false;

	for (int i = FILE_KERNEL; i <= FILE_KERNEL_BINS; i++)
		any |= r->seen[i];
	return any && number >= FILE_KERNEL && number <= FILE_KERNEL_BINS;
}

static int read_sections(struct reading *r)
{
	struct unpack *u = r->u;
	int more;

	while (!u->rc && (more = unpack_next(u)) > 0) {
		int number = 0;

		while (number < FILE_NR_TABLES && memcmp(file_tables[number].id, u->section.id, 4))
			number++;
		if (number < FILE_NR_TABLES) {
			read_table(r, number);
		} else if (u->section.flags & FILE_REQUIRED) {
			u->rc = err_set(u->e, -EPROTO, "the capture '%s' was made by a newer pmm",
					u->name);
			err_hint(u->e, "read it with the pmm that made it, or update this one");
		} else {
			unpack_skip(u);
		}
	}
	for (int i = 0; i < FILE_NR_TABLES && !u->rc; i++) {
		u->where = file_tables[i].name;
		if (!r->seen[i] && (!file_tables[i].optional || is_kernel_part_of(r, i)))
			unpack_damaged(u, "it is missing");
		else if (i == FILE_COVERAGE && r->seen[i] && !r->seen[FILE_CHECK])
			unpack_damaged(u, "it was not checked");
		else if (i == FILE_KMOD_SUMS && r->seen[i] && !r->seen[FILE_KMOD])
			unpack_damaged(u, "there is no such log");
		else if (i == FILE_USAGE_POINTS && r->seen[i] != r->seen[FILE_USAGE])
			unpack_damaged(u, "it does not go with the series as a whole");
	}
	return u->rc;
}

/* Nodes hold the numbers of their frames: put the frames there. */
static int join_frames(struct reading *r)
{
	r->u->where = file_tables[FILE_NODES].name;
	for (uint32_t i = 0; i < r->h->nr_nodes; i++) {
		uint32_t number = r->node_frames[i];

		if (number >= r->nr_frames)
			return unpack_damaged(r->u, "a node names a frame that is not there");
		r->h->nodes[i].pc = r->frames[number].pc;
		r->h->nodes[i].module = r->frames[number].module;
	}
	return 0;
}

static int no_memory(const char *name, struct err *e)
{
	return err_set(e, -ENOMEM, "cannot read the capture '%s': out of memory", name);
}

/* What reads heaps goes through stacks frame by frame, for each call site. */
static int check_depths(struct reading *r)
{
	uint32_t *depth = heap_depths(r->h);
	int rc = 0;

	if (!depth)
		return no_memory(r->u->name, r->u->e);
	for (uint32_t i = 0; i < r->h->nr_nodes && !rc; i++)
		if (depth[i] > HEAP_MAX_DEPTH)
			rc = unpack_damaged(r->u, "a stack has more than %u frames",
					    HEAP_MAX_DEPTH);
	free(depth);
	return rc;
}

/*
 * What all tables take that the table of contents lists. It is not trusted, only reported when the
 * limit is met.
 */
static void sum_up(struct unpack *u)
{
	uint32_t nr = unpack_peek(u);

	for (uint32_t i = 0; i < nr; i++) {
		const struct file_section *s = &u->toc[i].section;

		for (unsigned k = 0; k < FILE_NR_TABLES; k++) {
			const struct file_table *t = &file_tables[k];
			uint64_t row_bytes = t->row_bytes +
					     (k == FILE_NODES ? sizeof(uint32_t) : 0);

			if (k == FILE_SITES || k == FILE_MAP_SITES)
				row_bytes += sizeof(struct heap_lifetimes);

			if (!memcmp(t->id, s->id, sizeof(s->id)) && !has_fixed_rows(k) &&
			    s->count <= t->max_rows)
				u->asked_bytes += s->count * row_bytes;
		}
	}
}

int file_read_heap(FILE *f, uint64_t file_bytes, uint64_t max_bytes, const char *name,
		   struct heap **out, struct err *e)
{
	struct reading r = {.h = heap_new(), .u = unpack_new(f, file_bytes, max_bytes, name, e)};
	char why[200];
	int rc;

	if (r.u) {
		r.u->heap = r.h;
		sum_up(r.u);
	}
	if (!r.h || !r.u)
		rc = no_memory(name, e);
	else if (!(rc = r.u->rc) && !(rc = read_sections(&r)) && !(rc = join_frames(&r))) {
		r.u->where = "contents";
		if (heap_check(r.h, why, sizeof(why)))
			rc = unpack_damaged(r.u, "%s", why);
		else
			rc = check_depths(&r);
	}
	if (!rc) {
		r.h->captured = true;
		*out = r.h;
	} else {
		heap_free(r.h);
	}
	free(r.frames);
	free(r.node_frames);
	unpack_free(r.u);
	return rc;
}

static int open_failed(struct err *e, int rc, const char *path)
{
	if (rc == -EACCES)
		rc = -EPERM;
	err_set(e, rc, "cannot open '%s': %s", path, strerror(rc == -EPERM ? EACCES : -rc));
	if (rc == -EPERM)
		err_hint(e, "a capture can be read by its owner only; be that user, or root");
	else if (rc == -ENOENT)
		err_hint(e, "give the name of a capture or the number of a tracked process");
	return rc;
}

int capture_read(const char *path, uint64_t max_bytes, struct heap **out, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;
	struct stat st;
	FILE *f;

	if (fd < 0)
		return open_failed(e, -errno, path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		rc = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
		err_set(e, rc, "'%s' is %s", path,
			rc == -EISDIR ? "a directory" : "not a regular file");
		err_hint(e, "name a capture; 'pmm run' and 'pmm snapshot' write them, as *.pmm");
		close(fd);
		return rc;
	}
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return err_set(e, -ENOMEM, "cannot open '%s': out of memory", path);
	}
	rc = file_read_heap(f, (uint64_t)st.st_size, max_bytes ? max_bytes : limits_share(""), path,
			    out, e);
	fclose(f);
	return rc;
}
