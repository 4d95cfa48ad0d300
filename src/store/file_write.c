/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing a heap as a .pmm capture: its tables section by section, and the file in one step.
 */
#include "src/store/capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/hash.h"
#include "src/base/str.h"
#include "src/store/file_format.h"
#include "src/store/file_pack.h"
#include "src/store/replace.h"

static uint64_t table_rows(const struct heap *h, const struct file_table *t)
{
	const char *nr = (const char *)h + t->nr;

	return t->nr_size == 8 ? *(const uint64_t *)nr : *(const uint32_t *)nr;
}

static void write_head(const struct heap *h, struct pack *p)
{
	pack_begin(p, file_tables[FILE_HEAD].id, 1);
	pack_columns(p, &file_tables[FILE_HEAD], h, 1);
	pack_text(p, h->comm);
	pack_text(p, h->exe);
	pack_text(p, h->cmdline);
	pack_text(p, h->host);
	pack_text(p, h->allocator.path);
	pack_end(p);

	pack_begin(p, file_tables[FILE_CLASSES].id, HEAP_NR_CLASSES);
	pack_columns(p, &file_tables[FILE_CLASSES], h->class, HEAP_NR_CLASSES);
	pack_end(p);
}

/* What follows the columns. */
static void write_finding(struct pack *p, const struct heap_finding *f)
{
	pack_text(p, f->function);
	pack_text(p, f->text);
	pack_bytes(p, f->code, f->nr_code);
	pack_bytes(p, f->bytes, f->nr_bytes);
}

/* An array of the heap, with the strings that follow some tables' columns. */
static void write_table(const struct heap *h, struct pack *p, enum file_table_number number)
{
	const struct file_table *t = &file_tables[number];
	uint64_t count = table_rows(h, t);

	if (count > t->max_rows)
		pack_fail(p, -E2BIG);
	pack_begin(p, t->id, count);
	if (t->optional)
		pack_optional(p);
	pack_columns(p, t, *(void *const *)((const char *)h + t->array), count);
	for (uint64_t i = 0; number == FILE_MODULES && i < count; i++) {
		pack_text(p, h->modules[i].path);
		pack_bytes(p, h->modules[i].build_id, h->modules[i].build_id_len);
	}
	for (uint64_t i = 0; number == FILE_THREADS && i < count; i++)
		pack_text(p, h->threads[i].name);
	for (uint64_t i = 0; number == FILE_FINDINGS && i < count; i++)
		write_finding(p, &h->findings[i]);
	for (uint64_t i = 0; number == FILE_SRCLOCS && i < count; i++) {
		pack_text(p, h->srclocs[i].file);
		pack_text(p, h->srclocs[i].function);
	}
	for (uint64_t i = 0; number == FILE_MARKS && i < count; i++)
		pack_text(p, h->marks[i].name);
	pack_end(p);
}

/* A section of one row, figures of the heap itself, that may be missing. */
static void write_figures(const struct heap *h, struct pack *p, enum file_table_number figures)
{
	pack_begin(p, file_tables[figures].id, 1);
	pack_optional(p);
	pack_columns(p, &file_tables[figures], h, 1);
	pack_end(p);
}

/* ... and the array that goes with it. */
static void write_optional(const struct heap *h, struct pack *p, enum file_table_number figures,
			   enum file_table_number array)
{
	write_figures(h, p, figures);
	write_table(h, p, array);
}

static void write_kernel(const struct heap *h, struct pack *p)
{
	pack_begin(p, file_tables[FILE_KERNEL].id, 1);
	pack_optional(p);
	pack_columns(p, &file_tables[FILE_KERNEL], h, 1);
	pack_text(p, h->kernel.unseen);
	pack_end(p);
	write_table(h, p, FILE_KERNEL_KINDS);
	write_table(h, p, FILE_KERNEL_ROWS);
	write_table(h, p, FILE_KERNEL_BINS);
	if (h->kernel.faults_counted)
		write_figures(h, p, FILE_KERNEL_FAULTS);
}

static int by_frame(const void *a, const void *b)
{
	const struct file_frame *x = a, *y = b;

	if (x->pc != y->pc)
		return x->pc < y->pc ? -1 : 1;
	return (x->module > y->module) - (x->module < y->module);
}

/*
 * One number for a frame: pcs of user space have 47 bits, modules are few. Others are distinguished
 * by sorting.
 */
static uint64_t frame_key(const struct heap_node *n)
{
	return n->pc | (uint64_t)n->module << 48;
}

/*
 * The frames of the call tree, nearly all of them once: numbers[node] is the place of its frame,
 * which the frame itself has in `reserved`. Few frames make many nodes. 0 or -ENOMEM.
 */
static int collect_frames(const struct heap *h, struct file_frame *frames, uint32_t *numbers,
			  uint32_t *nr)
{
	struct hash_map seen = { 0 };

	for (uint32_t i = 0; i < h->nr_nodes; i++) {
		const struct heap_node *n = &h->nodes[i];
		uint32_t *place = nr;
		bool added = true;

		if (!(n->pc >> 48) && n->module <= UINT16_MAX) {
			place = hash_add(&seen, frame_key(n), *nr, &added);
			if (!place) {
				hash_fini(&seen);
				return -ENOMEM;
			}
		}
		numbers[i] = *place;
		if (added) {
			frames[*nr] = (struct file_frame){n->pc, n->module, *nr};
			++*nr;
		}
	}
	hash_fini(&seen);
	return 0;
}

/* All of them in order, each once; their number or -ENOMEM. Numbers become places in that order. */
static int64_t sort_frames(const struct heap *h, struct file_frame *frames, uint32_t *numbers)
{
	uint32_t all = 0, nr = 0, *place;
	int rc = collect_frames(h, frames, numbers, &all);

	place = rc ? NULL : calloc(all + 1, sizeof(*place));
	if (!place)
		return -ENOMEM;
	qsort(frames, all, sizeof(*frames), by_frame);
	for (uint32_t i = 0; i < all; i++) {
		uint32_t was = frames[i].reserved;

		if (!i || by_frame(&frames[i], &frames[nr - 1]))
			frames[nr++] = (struct file_frame){frames[i].pc, frames[i].module, 0};
		place[was] = nr - 1;
	}
	for (uint32_t i = 0; i < h->nr_nodes; i++)
		numbers[i] = place[numbers[i]];
	free(place);
	return nr;
}

/* A call tree has few different frames: write those, then each node as the number of its frame. */
static int write_nodes(const struct heap *h, struct pack *p)
{
	struct file_frame *frames = calloc(h->nr_nodes, sizeof(*frames));
	uint32_t *numbers = calloc(h->nr_nodes, sizeof(*numbers));
	int64_t nr = frames && numbers ? sort_frames(h, frames, numbers) : -ENOMEM;

	if (nr >= 0) {
		pack_begin(p, file_tables[FILE_FRAMES].id, (uint64_t)nr);
		pack_columns(p, &file_tables[FILE_FRAMES], frames, (uint64_t)nr);
		pack_end(p);
		pack_begin(p, file_tables[FILE_NODES].id, h->nr_nodes);
		pack_column(p, numbers, sizeof(*numbers), sizeof(*numbers), h->nr_nodes);
		pack_columns(p, &file_tables[FILE_NODES], h->nodes, h->nr_nodes);
		pack_end(p);
	}
	free(frames);
	free(numbers);
	return nr < 0 ? (int)nr : 0;
}

/* What reading it takes, generously. */
static uint64_t memory_needed(const struct heap *h)
{
	uint64_t bytes = h->nr_nodes * (sizeof(struct file_frame) + sizeof(uint32_t));

	for (int i = FILE_MODULES; i < FILE_NR_TABLES; i++)
		if (i != FILE_FRAMES && !file_is_of_heap(&file_tables[i]))
			bytes += table_rows(h, &file_tables[i]) * file_tables[i].row_bytes;
	/* also of readers to which each site has them */
	bytes += ((uint64_t)h->nr_sites + h->nr_map_sites) * sizeof(struct heap_lifetimes);
	for (uint32_t i = 0; i < h->nr_modules; i++)
		bytes += strlen(h->modules[i].path) + 1;
	for (uint64_t i = 0; i < h->nr_findings; i++)
		bytes += strlen(h->findings[i].text) + 1;
	for (uint32_t i = 0; i < h->nr_srclocs; i++)
		bytes += strlen(h->srclocs[i].file) + strlen(h->srclocs[i].function) + 2;
	bytes += strlen(h->comm) + strlen(h->exe) + strlen(h->cmdline) + strlen(h->host) +
		 strlen(h->kernel.unseen);
	return 2 * bytes + (1 << 20);
}

int file_write_heap(const struct heap *h, FILE *f, const char *name, struct err *e)
{
	struct pack *p;
	char why[200];
	int rc;

	if (heap_check(h, why, sizeof(why)))
		return err_set(e, -EBADMSG,
			       "cannot write the capture '%s': the heap contradicts itself: %s",
			       name, why);
	p = pack_new(f);
	if (!p)
		return err_set(e, -ENOMEM, "cannot write the capture '%s': out of memory", name);
	p->heap = h;
	write_head(h, p);
	write_table(h, p, FILE_MODULES);
	write_table(h, p, FILE_THREADS);
	rc = write_nodes(h, p);
	for (enum file_table_number i = FILE_SITES; i <= FILE_SITE_POINTS; i++)
		write_table(h, p, i);
	if (h->search.how != HEAP_SEARCH_NONE)
		write_optional(h, p, FILE_SEARCH, FILE_LEAKS);
	if (h->check.level || h->nr_findings)
		write_optional(h, p, FILE_CHECK, FILE_FINDINGS);
	if (h->nr_srclocs)
		write_table(h, p, FILE_SRCLOCS);
	if (h->check.level)
		write_figures(h, p, FILE_COVERAGE);
	if (h->death.known)
		write_figures(h, p, FILE_DEATH);
	if (h->missed_frees)
		write_figures(h, p, FILE_MISSED);
	if (h->allocator.outside || h->allocator.why || h->allocator.nr_arenas)
		write_figures(h, p, FILE_FIGURES);
	if (h->space_taken_bytes)
		write_figures(h, p, FILE_SPACE);
	if (h->own_calls)
		write_figures(h, p, FILE_OWN);
	if (h->peak_resident_bytes)
		write_figures(h, p, FILE_RESIDENT);
	if (h->kernel.traced)
		write_kernel(h, p);
	if (h->kmod.logged)
		write_figures(h, p, FILE_KMOD);
	if (h->kmod.sums)
		write_figures(h, p, FILE_KMOD_SUMS);
	if (h->usage.sampled)
		write_optional(h, p, FILE_USAGE, FILE_USAGE_POINTS);
	if (h->nr_marks)
		write_table(h, p, FILE_MARKS);
	pack_pad(p, memory_needed(h));
	if (!rc)
		rc = pack_finish(p);
	pack_free(p);
	return rc ? replace_failed(e, rc, "capture", name) : 0;
}

/* ---- the file ------------------------------------------------------------------------------ */

struct whole {
	const struct heap *heap;
	const char *path;
};

static int write_whole(void *arg, FILE *f, struct err *e)
{
	const struct whole *w = arg;

	return file_write_heap(w->heap, f, w->path, e);
}

int capture_write(const struct heap *h, const char *path, bool durable, struct err *e)
{
	return replace_file(path, "capture", durable, write_whole, &(struct whole){ h, path }, e);
}
