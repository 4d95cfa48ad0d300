/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A heap that is made of a profile: places, frames, sites, sums. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/real.h"
#include "src/base/utf8.h"
#include "src/import/import_priv.h"
#include "src/proc/limits.h"

#define MAX_NODES	(1u << 28)
#define MAX_SITES	(1u << 26)
#define MAX_MODULES	(1u << 16)

int import_no_memory(struct import *m)
{
	return err_set(m->e, -ENOMEM, "not enough memory to read '%s'", m->path);
}

int import_damaged(struct import *m, const char *fmt, ...)
{
	char why[160];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	err_set(m->e, -EBADMSG, "'%s' is damaged: %s", m->path, why);
	err_hint(m->e, "record it again, or copy it anew from where it was recorded");
	return -EBADMSG;
}

int import_unreadable(struct import *m, int rc)
{
	if (rc == -ENOMEM)
		return import_no_memory(m);
	if (rc == -ENODATA) {
		err_set(m->e, rc, "'%s' is truncated", m->path);
		err_hint(m->e, "its tool may have been killed while it wrote; copy or record it "
			       "again");
		return rc;
	}
	if (rc == -EBADMSG)
		return import_damaged(m, "what is packed in it makes no sense");
	return err_set(m->e, rc, "cannot read '%s': %s", m->path, strerror(-rc));
}

int import_take(struct import *m, uint64_t bytes)
{
	m->used_bytes += bytes;
	if (m->used_bytes <= m->max_bytes)
		return 0;
	err_set(m->e, -EFBIG, "reading '%s' takes more than %" PRIu64 " MiB of memory", m->path,
		m->max_bytes >> 20);
	err_hint(m->e, "allow more with --memory-limit");
	return -EFBIG;
}

char *import_text(const char *text)
{
	char *copy = strndup(text ? text : "", IMPORT_MAX_NAME_BYTES);

	if (copy)
		utf8_mask(copy, strlen(copy), '?');
	return copy;
}

int import_begin(struct import *m)
{
	struct heap_srcloc none = { .file = strdup(""), .function = strdup("") };
	struct heap_module no_module = { .path = strdup("") };
	struct heap_node root = { 0 };
	struct heap_site unknown = { 0 };

	if (!m->max_bytes)
		m->max_bytes = limits_share("");
	m->h = heap_new();
	/* what has been pushed belongs to `m` */
	if (none.file && none.function && !vec_push(&m->srclocs, none))
		none = (struct heap_srcloc){ 0 };
	if (no_module.path && !vec_push(&m->modules, no_module))
		no_module.path = NULL;
	free(none.file);
	free(none.function);
	free(no_module.path);
	if (!m->h || !m->srclocs.nr || !m->modules.nr || vec_push(&m->nodes, root) ||
	    vec_push(&m->depths, 0) || vec_push(&m->sites, unknown))
		return import_no_memory(m);
	m->h->captured = true;
	m->h->end = HEAP_GONE;
	m->h->end_status = -1;
	m->h->import.tool = (uint8_t)m->tool;
	return 0;
}

void import_end(struct import *m)
{
	vec_each(&m->srclocs, s) {
		free(s->file);
		free(s->function);
	}
	vec_each(&m->modules, module)
		free(module->path);
	vec_fini(&m->srclocs);
	vec_fini(&m->modules);
	vec_fini(&m->nodes);
	vec_fini(&m->depths);
	vec_fini(&m->sites);
	vec_fini(&m->points);
	vec_fini(&m->site_points);
	intern_fini(&m->places);
	intern_fini(&m->paths);
	hash_fini(&m->frame_nodes);
	hash_fini(&m->node_sites);
	heap_free(m->h);
	m->h = NULL;
}

/* ---- modules and places ---- */

int64_t import_module(struct import *m, const char *path, uint64_t start, uint64_t end,
		      uint64_t bias)
{
	struct heap_module new = { .start = start, .end = end, .bias = bias };

	if (!path || !*path)
		return 0;
	if (m->modules.nr == MAX_MODULES)
		return import_damaged(m, "it names more than %u files", MAX_MODULES - 1);
	if (import_take(m, sizeof(new) + strlen(path)))
		return -EFBIG;
	new.path = import_text(path);
	if (new.path && !vec_push(&m->modules, new))
		return (int64_t)m->modules.nr - 1;
	free(new.path);
	return import_no_memory(m);
}

static int add_place(struct import *m, const char *function, const char *file, uint32_t line)
{
	struct heap_srcloc new = { .file = import_text(file), .function = import_text(function),
				   .line = line };

	if (new.file && new.function && !vec_push(&m->srclocs, new))
		return 0;
	free(new.file);
	free(new.function);
	return import_no_memory(m);
}

int64_t import_place(struct import *m, const char *function, const char *file, uint32_t line)
{
	struct str key = STR_INIT;
	int64_t number;
	int rc = 0;

	str_addf(&key, "%" PRIu32 "\n%s\n%s", line, function ? function : "", file ? file : "");
	number = str_error(&key) ? -ENOMEM : intern_add(&m->places, str_text(&key));
	if (number >= 0 && number + 1 >= HEAP_MAX_IMPORT_SRCLOCS)
		rc = import_damaged(m, "it names more than %u lines of source",
				    HEAP_MAX_IMPORT_SRCLOCS - 1);
	else if (number < 0)
		rc = import_no_memory(m);
	else if ((size_t)number + 1 == m->srclocs.nr)
		rc = import_take(m, 2 * key.len + sizeof(*m->srclocs.v));
	if (!rc && (size_t)number + 1 == m->srclocs.nr)
		rc = add_place(m, function, file, line);
	str_fini(&key);
	return rc ? rc : number + 1;
}

/* ---- stacks and sites ---- */

int64_t import_node(struct import *m, uint32_t parent, uint64_t pc, uint32_t module)
{
	uint64_t key = hash_u64(pc + ((uint64_t)module << 48)) ^ (uint64_t)parent << 1;
	const struct heap_node new = { .pc = pc, .parent = parent, .module = module };
	const struct heap_node *n;
	uint32_t *number;
	bool added;

	/* another frame may have the key: then try the next one */
	for (;; key++) {
		number = hash_add(&m->frame_nodes, key, (uint32_t)m->nodes.nr, &added);
		if (!number)
			return import_no_memory(m);
		if (added)
			break;
		n = &m->nodes.v[*number];
		if (n->pc == pc && n->parent == parent && n->module == module)
			return *number;
	}
	if (m->nodes.nr == MAX_NODES)
		return import_damaged(m, "it has more than %u frames", MAX_NODES - 1);
	if (m->depths.v[parent] == IMPORT_MAX_DEPTH)
		return import_damaged(m, "a stack has more than %u frames", IMPORT_MAX_DEPTH);
	if (import_take(m, sizeof(new) + sizeof(*m->depths.v) + 2 * sizeof(key)))
		return -EFBIG;
	if (vec_push(&m->nodes, new) ||
	    vec_push(&m->depths, (uint16_t)(m->depths.v[parent] + 1)))
		return import_no_memory(m);
	return (int64_t)m->nodes.nr - 1;
}

int64_t import_site(struct import *m, uint32_t node)
{
	uint32_t *number;
	bool added;

	if (!node)
		return 0;
	number = hash_add(&m->node_sites, node, (uint32_t)m->sites.nr, &added);
	if (!number)
		return import_no_memory(m);
	if (!added)
		return *number;
	if (m->sites.nr == MAX_SITES)
		return import_damaged(m, "it has more than %u stacks", MAX_SITES - 1);
	if (import_take(m, sizeof(struct heap_site)))
		return -EFBIG;
	if (vec_push(&m->sites, (struct heap_site){ .node = node }))
		return import_no_memory(m);
	return (int64_t)m->sites.nr - 1;
}

int import_command(struct import *m, const char *cmdline)
{
	const char *end = cmdline + strcspn(cmdline, " "), *start = end;
	char *line = import_text(cmdline), *comm;

	while (start > cmdline && start[-1] != '/')
		start--;
	comm = strndup(start, (size_t)(end - start));
	if (!line || !comm) {
		free(line);
		free(comm);
		return import_no_memory(m);
	}
	utf8_mask(comm, strlen(comm), '?');
	free(m->h->cmdline);
	free(m->h->comm);
	m->h->cmdline = line;
	m->h->comm = comm;
	return 0;
}

/* ---- figures ---- */

static uint64_t scaled(uint64_t n, double by)
{
	double x = (double)n * by;

	return x < 9e18 ? (uint64_t)(x + 0.5) : INT64_MAX;
}

/*
 * A block of s bytes is in the sample with probability 1 - exp(-s/R), R the mean distance between
 * samples; the blocks of a site are taken to have their mean size.
 */
static void unsample(uint64_t *blocks, uint64_t *bytes, uint64_t period)
{
	double mean = *blocks ? (double)*bytes / (double)*blocks : 0;
	double by = mean > 0 ? 1 / real_any(mean / (double)period) : 1;

	*blocks = scaled(*blocks, by);
	*bytes = scaled(*bytes, by);
}

void import_unsample(struct import_counts *c, uint64_t period)
{
	if (period <= 1)
		return;
	unsample(&c->live_blocks, &c->live_bytes, period);
	unsample(&c->allocs, &c->bytes_in, period);
}

void import_guess_samples(struct import *m, uint32_t site, uint64_t blocks, uint64_t bytes)
{
	double mean = blocks ? (double)bytes / (double)blocks : 0;
	double period = (double)m->h->sample_bytes;
	double samples = (double)blocks * (mean < period ? mean / period : 1);

	if (m->h->mode == HEAP_SAMPLED && blocks)
		m->sites.v[site].samples_in += samples > 1 ? (uint64_t)(samples + 0.5) : 1;
}

/* Sums must stay in the range of what is signed elsewhere. */
static bool add(uint64_t *sum, uint64_t n)
{
	return !__builtin_add_overflow(*sum, n, sum) && *sum <= INT64_MAX;
}

int import_add(struct import *m, uint32_t site, const struct import_counts *c)
{
	struct heap_site *s = &m->sites.v[site];
	struct heap *h = m->h;
	/* the two are rounded one by one, and unsampled by different means */
	uint64_t allocs = c->allocs > c->live_blocks ? c->allocs : c->live_blocks;
	uint64_t bytes_in = c->bytes_in > c->live_bytes ? c->bytes_in : c->live_bytes;

	if (!add(&h->allocs, allocs) || !add(&h->bytes_in, bytes_in))
		return import_damaged(m, "its figures add up to more than a process can have");
	h->frees += allocs - c->live_blocks;
	h->bytes_out += bytes_in - c->live_bytes;
	h->live_bytes += c->live_bytes;
	h->live_blocks += c->live_blocks;
	s->allocs += allocs;
	s->frees += allocs - c->live_blocks;
	s->bytes_in += bytes_in;
	s->bytes_out += bytes_in - c->live_bytes;
	s->live_bytes += (int64_t)c->live_bytes;
	s->live_blocks += (int64_t)c->live_blocks;
	return 0;
}
