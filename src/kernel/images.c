/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is mapped where in each traced process. */
#include "src/kernel/images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/nanotime.h"
#include "src/base/str.h"
#include "src/proc/task.h"

#define READ_SHARE	20		/* reading may take 1 of so many parts of the time */
#define READ_PAUSE_NS	1000000ull	/* at least, between two readings of one process */
/* Of each program that is executed: libraries come one by one. */
#define FREE_READS	8u

/* ---- tables ---------------------------------------------------------------------------------- */

static void table_drop(struct image_table *t)
{
	if (!t || --t->refs)
		return;
	vec_fini(&t->maps);
	vec_fini(&t->former);
	free(t);
}

static void process_forget(struct image_process *p)
{
	table_drop(p->table);
	p->table = NULL;
	p->why = IMAGE_FOUND;
	p->stale = p->told = p->begun = false;
	p->changed_ns = p->read_ns = p->again_ns = 0;
	p->reads = 0;
}

static const struct image_map *table_at(const struct image_table *t, uint64_t pc)
{
	size_t i = vec_while(&t->maps, m, m->end <= pc);

	return i < t->maps.nr && t->maps.v[i].start <= pc ? &t->maps.v[i] : NULL;
}

static int by_start(const void *a, const void *b)
{
	const struct image_map *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* What was there at that time, as far as it is known. */
static const struct image_map *table_find(const struct image_table *t, uint64_t pc,
					  uint64_t time_ns)
{
	const struct image_map *now = table_at(t, pc);

	if (now && now->from_ns <= time_ns)
		return now;
	for (size_t i = t->former.nr; i--; ) {
		const struct image_map *m = &t->former.v[i];

		if (pc >= m->start && pc < m->end && m->from_ns <= time_ns)
			return m;
	}
	return now;
}

static bool same_map(const struct image_map *a, const struct image_map *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->module == b->module;
}

static int former_add(struct image_table *t, const struct image_map *m)
{
	if (t->former.nr >= IMAGES_MAX_FORMER)
		memmove(t->former.v, t->former.v + 1, --t->former.nr * sizeof(*m));
	return vec_push(&t->former, *m);
}

/* What the table before this one had: since when its mappings are there, and which are gone. */
static int table_succeed(struct image_table *t, const struct image_table *old, uint64_t from_ns)
{
	int rc = 0;

	vec_each(&t->maps, m)
		m->from_ns = from_ns;
	vec_each(&old->former, f)
		rc |= former_add(t, f);
	vec_each(&old->maps, m) {
		struct image_map *now = (struct image_map *)table_at(t, m->start);

		if (now && same_map(now, m))
			now->from_ns = m->from_ns;
		else
			rc |= former_add(t, m);
	}
	return rc ? -ENOMEM : 0;
}

static struct image_table *table_copy(const struct image_table *from)
{
	struct image_table *t = calloc(1, sizeof(*t));
	int rc = t ? 0 : -ENOMEM;

	if (t)
		t->refs = 1;
	for (size_t i = 0; !rc && i < from->maps.nr; i++)
		rc = vec_push(&t->maps, from->maps.v[i]);
	for (size_t i = 0; !rc && i < from->former.nr; i++)
		rc = vec_push(&t->former, from->former.v[i]);
	if (rc)
		table_drop(t);
	return rc ? NULL : t;
}

/* A part of a mapping is left. */
static int keep_part(struct image_table *t, struct image_map m, uint64_t start, uint64_t end)
{
	m.offset += start - m.start;
	m.start = start;
	m.end = end;
	return start < end ? vec_push(&t->maps, m) : 0;
}

/* Map something, in the place of all that was there. */
static int table_map(struct image_table *t, const struct image_map *map)
{
	size_t first = vec_while(&t->maps, m, m->end <= map->start);
	size_t nr = t->maps.nr, i;
	int rc = 0;

	for (i = first; i < nr && t->maps.v[i].start < map->end; i++) {
		struct image_map m = t->maps.v[i];

		rc |= former_add(t, &m);
		rc |= keep_part(t, m, m.start, map->start);
		rc |= keep_part(t, m, map->end > m.start ? map->end : m.start, m.end);
	}
	rc |= vec_push(&t->maps, *map);
	memmove(t->maps.v + first, t->maps.v + i, (t->maps.nr - i) * sizeof(*map));
	t->maps.nr -= i - first;
	vec_sort(&t->maps, by_start);
	return rc ? -ENOMEM : 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool has_file(const struct proc_map *m)
{
	return m->ino && m->path[0] == '/';
}

/* mapped_ns as modules_add() has it */
static struct image_map image_map(struct images *im, pid_t pid, const struct proc_map *m,
				  uint64_t mapped_ns)
{
	struct image_map map = { .start = m->start, .end = m->end, .offset = m->offset,
				 .from_ns = mapped_ns };

	if (has_file(m))
		map.module = modules_add(&im->modules, pid, m, mapped_ns);
	else if (!strcmp(m->path, "[vdso]"))
		map.module = modules_vdso(&im->modules);
	return map;
}

static struct image_table *table_read(struct images *im, pid_t tgid, int *rc)
{
	struct image_table *t = calloc(1, sizeof(*t));
	pid_t pid = task_proc(tgid);
	struct proc_maps maps;

	*rc = t ? proc_maps_read(pid, &maps, NULL) : -ENOMEM;
	if (*rc) {
		free(t);
		return NULL;
	}
	im->reads++;
	t->refs = 1;
	for (size_t i = 0; !*rc && i < maps.nr; i++)
		if (maps.v[i].perms & PROC_MAP_EXEC)
			*rc = vec_push(&t->maps, image_map(im, pid, &maps.v[i], 0));
	/* a process that ends has none, and gives none before it is gone */
	if (!*rc && !maps.nr)
		*rc = -ESRCH;
	proc_maps_fini(&maps);
	if (*rc) {
		table_drop(t);
		t = NULL;
	}
	return t;
}

/* Read the mappings of a process, now. 0, or why not. */
static int process_read(struct images *im, struct image_process *p)
{
	uint64_t begin = nanotime(), end;
	struct image_table *t, *old = p->table;
	int rc = -ESRCH;

	t = p->ended ? NULL : table_read(im, p->tgid, &rc);
	end = nanotime();
	p->again_ns = end + (end - begin) * READ_SHARE;
	if (p->again_ns < begin + READ_PAUSE_NS)
		p->again_ns = begin + READ_PAUSE_NS;
	if (++p->reads < FREE_READS)
		p->again_ns = 0;
	p->stale = false;
	if (!t) {
		p->why = rc == -EACCES || rc == -EPERM ? IMAGE_DENIED : IMAGE_ENDED;
		if (!old && p->why == IMAGE_ENDED && !p->read_ns) {
			im->unread++;
			p->read_ns = end;
		}
		return rc;
	}
	if (old && table_succeed(t, old, p->changed_ns ? p->changed_ns : p->read_ns))
		rc = -ENOMEM;
	table_drop(old);
	p->table = t;
	p->read_ns = begin;
	p->changed_ns = 0;
	p->told = im->told;
	return rc;
}

/* ---- processes ------------------------------------------------------------------------------- */

static struct image_process *process_known(const struct images *im, pid_t tgid)
{
	uint32_t *index = hash_find(&im->by_tgid, (uint64_t)tgid);

	return index && *index ? im->processes.v[*index - 1] : NULL;
}

/* Take it out; the last one of the list gets its place. */
static void process_free(struct images *im, struct image_process *p)
{
	uint32_t *index = hash_find(&im->by_tgid, (uint64_t)p->tgid);
	struct image_process *last = *vec_last(&im->processes);

	im->processes.v[*index - 1] = last;
	hash_put(&im->by_tgid, (uint64_t)last->tgid, *index);	/* it is in there */
	im->processes.nr--;
	hash_put(&im->by_tgid, (uint64_t)p->tgid, 0);
	process_forget(p);
	free(p);
}

/* Numbers without a process are many after some time. */
static int numbers_shrink(struct images *im)
{
	struct hash_map fresh = { 0 };

	if (im->by_tgid.nr < 65536 || im->by_tgid.nr < 4 * im->processes.nr)
		return 0;
	for (size_t i = 0; i < im->processes.nr; i++)
		if (hash_put(&fresh, (uint64_t)im->processes.v[i]->tgid, (uint32_t)i + 1)) {
			hash_fini(&fresh);
			return -ENOMEM;
		}
	hash_fini(&im->by_tgid);
	im->by_tgid = fresh;
	return 0;
}

/* Too many: what runs is read again when it is needed. */
static void forget_running(struct images *im)
{
	for (size_t i = im->processes.nr; i--; )
		if (!im->processes.v[i]->ended)
			process_free(im, im->processes.v[i]);
}

static struct image_process *process_get(struct images *im, pid_t tgid)
{
	struct image_process *p = process_known(im, tgid);

	if (p)
		return p;
	if (im->processes.nr >= IMAGES_MAX_PROCESSES)
		forget_running(im);
	if (numbers_shrink(im))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->tgid = tgid;
	if (vec_push(&im->processes, p)) {
		free(p);
		return NULL;
	}
	if (hash_put(&im->by_tgid, (uint64_t)tgid, (uint32_t)im->processes.nr)) {
		im->processes.nr--;
		free(p);
		return NULL;
	}
	return p;
}

static void ended_remove(struct images *im, const struct image_process *p)
{
	for (size_t i = im->first_ended; i < im->ended.nr; i++)
		if (im->ended.v[i] == p)
			im->ended.v[i] = NULL;
}

/* Its number belongs to another process now. */
static void process_begin(struct images *im, struct image_process *p)
{
	if (p->ended)
		ended_remove(im, p);
	p->ended = false;
	process_forget(p);
}

static int ended_add(struct images *im, struct image_process *p)
{
	if (vec_push(&im->ended, p))
		return -ENOMEM;
	while (im->ended.nr - im->first_ended > IMAGES_MAX_ENDED) {
		struct image_process *oldest = im->ended.v[im->first_ended++];

		if (oldest)
			process_free(im, oldest);
	}
	if (im->first_ended > IMAGES_MAX_ENDED) {
		im->ended.nr -= im->first_ended;
		memmove(im->ended.v, im->ended.v + im->first_ended,
			im->ended.nr * sizeof(im->ended.v[0]));
		im->first_ended = 0;
	}
	return 0;
}

int images_exec(struct images *im, pid_t tgid, uint64_t time_ns)
{
	struct image_process *p = process_get(im, tgid);

	(void)time_ns;
	if (!p)
		return -ENOMEM;
	if (p->begun) {
		p->begun = false;
		return 0;
	}
	process_begin(im, p);
	return process_read(im, p) == -ENOMEM ? -ENOMEM : 0;
}

int images_fork(struct images *im, pid_t parent, pid_t child, uint64_t time_ns)
{
	struct image_process *p, *c;

	if (parent == child)
		return 0;
	images_process(im, parent, time_ns);
	c = process_get(im, child);
	if (!c)
		return -ENOMEM;
	process_begin(im, c);
	p = process_known(im, parent);
	if (!p || !p->table)
		return 0;			/* it is read when it is needed */
	c->table = p->table;
	c->table->refs++;
	c->read_ns = p->read_ns;
	c->changed_ns = p->changed_ns;
	c->stale = p->stale;
	c->told = p->told;
	return 0;
}

int images_exit(struct images *im, pid_t tgid, uint64_t time_ns)
{
	struct image_process *p = process_known(im, tgid);

	if (!p || p->ended)
		return 0;
	p->ended = true;
	p->ended_ns = time_ns;
	return ended_add(im, p);
}

int images_changed(struct images *im, pid_t tgid, uint64_t time_ns)
{
	struct image_process *p = process_known(im, tgid);

	if (p && p->table && !p->told) {
		p->stale = true;
		if (!p->changed_ns)
			p->changed_ns = time_ns;
	}
	return 0;
}

int images_begin(struct images *im, pid_t tgid, uint64_t time_ns)
{
	struct image_process *p = process_get(im, tgid);

	if (!p)
		return -ENOMEM;
	process_begin(im, p);
	p->table = calloc(1, sizeof(*p->table));
	if (!p->table)
		return -ENOMEM;
	p->table->refs = 1;
	p->read_ns = time_ns;
	p->told = p->begun = true;
	return 0;
}

int images_mapped(struct images *im, pid_t tgid, const struct proc_map *map, uint64_t time_ns)
{
	struct image_process *p = process_known(im, tgid);
	const struct image_map *same;
	struct image_table *own;
	struct image_map m;

	if (!p || !p->table || p->ended)
		return 0;
	m = image_map(im, task_proc(tgid), map, time_ns);
	same = table_at(p->table, m.start);
	if (same && same_map(same, &m))
		return 0;
	if (p->table->refs > 1) {
		own = table_copy(p->table);
		if (!own)
			return -ENOMEM;
		table_drop(p->table);
		p->table = own;
	}
	return table_map(p->table, &m);
}

void images_doubt(struct images *im)
{
	vec_each(&im->processes, p)
		if ((*p)->table && !(*p)->ended) {
			(*p)->told = false;
			(*p)->stale = true;
		}
}

bool images_knows(const struct images *im, pid_t tgid)
{
	return process_known(im, tgid);
}

struct image_process *images_process(struct images *im, pid_t tgid, uint64_t time_ns)
{
	struct image_process *p = process_get(im, tgid);

	if (!p)
		return NULL;
	if (p->ended && time_ns > p->ended_ns)
		process_begin(im, p);		/* its fork was lost, or not asked for */
	if ((!p->table && !p->read_ns && nanotime() >= p->again_ns) ||
	    (p->stale && nanotime() >= p->again_ns))
		process_read(im, p);		/* p->why says what went wrong */
	return p;
}

static struct image_at found(struct images *im, struct image_process *p, const struct image_map *m,
			     uint64_t pc)
{
	struct image_at at = { .module = m->module, .address = pc };
	struct module *module;

	if (!m->module) {
		at.miss = IMAGE_ANONYMOUS;
		return at;
	}
	module = modules_at(&im->modules, m->module);
	if (module->fd < 0 && module->ino && module->file.bytes && !p->ended)
		modules_reopen(&im->modules, m->module, task_proc(p->tgid), m->start, m->end);
	if (modules_load(&im->modules, m->module) != MODULE_OK) {
		bool made = module->state == MODULE_NOT_ELF && str_starts(module->path, "/memfd:");

		at.miss = made || !strncmp(module->path, "/dev/zero", 9) ? IMAGE_ANONYMOUS
									  : IMAGE_FILE;
	} else if (!unwind_file_address(&module->file, pc - m->start + m->offset, &at.address)) {
		at.miss = IMAGE_FILE;
	}
	return at;
}

struct image_at images_find(struct images *im, struct image_process *p, uint64_t pc,
			    uint64_t time_ns)
{
	const struct image_map *m = p && p->table ? table_find(p->table, pc, time_ns) : NULL;

	/* not known: it is read again if it may be there now */
	if (!m && p && p->table && !p->ended && nanotime() >= p->again_ns) {
		process_read(im, p);
		m = table_find(p->table, pc, time_ns);
	}
	if (m)
		return found(im, p, m, pc);
	return (struct image_at){
		.miss = p && !p->table ? p->why : IMAGE_NOTHING,
		.address = pc,
	};
}

void images_fini(struct images *im)
{
	while (im->processes.nr)
		process_free(im, *vec_last(&im->processes));
	vec_fini(&im->processes);
	vec_fini(&im->ended);
	hash_fini(&im->by_tgid);
	modules_fini(&im->modules);
	*im = (struct images){ 0 };
}
