/* SPDX-License-Identifier: MIT */
/*
 * Which ELF file a pc is in: read from /proc/self/maps, which takes none of the loader's locks,
 * and from the file's headers as they are mapped. Every module found is recorded in the ledger
 * under a number.
 *
 * The list is private memory under a small lock. The lock is never waited for by its own holder (a
 * signal handler), only for a bounded time by others, and a forked child starts with it open; who
 * does not get it ends the stack with a mark. A handler may look at the list while its thread does;
 * none comes while that thread reads it anew, unless that is the injected form's or under seccomp.
 * Executable memory without a file (JIT) is kept in the list too, with number 0, so that it is
 * looked for only once.
 */
#include "agent/unwind/module.h"

#include <elf.h>

#include "agent/agent_arena.h"
#include "agent/clock.h"
#include "agent/ctx.h"
#include "agent/note.h"
#include "agent/sys.h"
#include "agent/wait.h"

/*
 * The scratch memory: lines of /proc/self/maps, a path, a module's first page, its note, its
 * program headers where they are elsewhere, which parts of the file are where.
 */
#define CHUNK	(64u << 10)
#define PATH_AT	(CHUNK + (8u << 10))
#define HEADER_AT (CHUNK + (16u << 10))
#define NOTE_AT	(CHUNK + (20u << 10))
#define PHDRS_AT (CHUNK + (24u << 10))
#define PARTS_AT (CHUNK + (40u << 10))
#define MOST_PHDRS 200
#define MOST_PARTS 16
#define TRIES	20000

static bool module_lock(uint32_t tid, bool *own)
{
	*own = false;
	for (unsigned i = 0; i < TRIES; i++) {
		uint32_t none = 0;

		if (CAS(agent.module_lock, none, tid))
			return true;
		*own = none == tid;
		if (*own)
			return false;
		wait_between(i);
	}
	return false;
}

static void module_unlock(void)
{
	STORE_RELEASE(agent.module_lock, 0);
}

/* The signals of this thread are kept waiting: false where they cannot be. */
static bool signals_hold(uint64_t *mask)
{
	const uint64_t all = UINT64_MAX;

	return !agent.own.start && !LOAD(agent.confined) &&
	       !sys_failed(sys4(rt_sigprocmask, SYS_SIG_SETMASK, &all, mask, sizeof(all)));
}

static void signals_let_go(const uint64_t *mask)
{
	sys4(rt_sigprocmask, SYS_SIG_SETMASK, mask, 0, sizeof(*mask));
}

/* ---- one module ------------------------------------------------------------------------------ */

/* A run of lines of /proc/self/maps that belong to one file. */
struct run {
	uint64_t start, end, dev, ino;
	uint64_t next;		/* where the next line begins, if nothing is between */
	bool readable, executable, whole;	/* whole: begins with the file's start, readable */
	uint32_t nr_parts;
	const char *path;
	uint32_t path_len;
};

struct part {
	uint64_t start, end, offset;
};

/* Of the run that is being read. */
static struct part *parts(void)
{
	return (struct part *)(agent.scratch + PARTS_AT);
}

/* The kernel copies, since another thread may be unmapping it (dlclose). */
bool module_copy(void *to, uint64_t from, size_t bytes)
{
	struct {
		void *base;
		size_t bytes;
	} local = { to, bytes }, remote = { (void *)from, bytes };

	return arch_syscall(ARCH_SYS_process_vm_readv, sys0(gettid), (long)&local, 1, (long)&remote,
			    1, 0) == (long)bytes;
}

static void build_id_find(const char *note, const char *end, struct pmm_module *m)
{
	struct note n;

	while ((note = note_read(note, end, &n)))
		if (n.type == NT_GNU_BUILD_ID && n.name_bytes == 4 && str_equal(n.name, "GNU") &&
		    n.desc_bytes && n.desc_bytes <= PMM_BUILD_ID_MAX) {
			memcpy(m->build_id, n.desc, n.desc_bytes);
			m->build_id_len = (uint8_t)n.desc_bytes;
			return;
		}
}

static bool inside(const struct run *r, uint64_t at, uint64_t bytes)
{
	return at >= r->start && at <= r->end && bytes <= r->end - at;
}

/*
 * A copy of notes: mostly they are in the page that was copied already, and each system call of the
 * injected agent's start costs two stops.
 */
static const char *note_at(const struct run *r, uint64_t at, size_t bytes)
{
	if (at - r->start <= ARCH_PAGE - bytes)
		return agent.scratch + HEADER_AT + (at - r->start);
	return module_copy(agent.scratch + NOTE_AT, at, bytes) ? agent.scratch + NOTE_AT : NULL;
}

/*
 * The program headers: in the file's first page, or wherever they are mapped. patchelf and
 * llvm-bolt move them into a segment of their own.
 */
static const Elf64_Phdr *headers_find(const struct run *r, const Elf64_Ehdr *e)
{
	const size_t bytes = e->e_phnum * sizeof(Elf64_Phdr);
	char *copy = agent.scratch + PHDRS_AT;

	if (e->e_phoff <= ARCH_PAGE && bytes <= ARCH_PAGE - e->e_phoff)
		return (const Elf64_Phdr *)((const char *)e + e->e_phoff);
	for (uint32_t i = 0; i < r->nr_parts; i++) {
		struct part p = parts()[i];
		uint64_t from = e->e_phoff - p.offset, room = p.end - p.start;

		if (from <= room && bytes <= room - from)
			return module_copy(copy, p.start + from, bytes) ? (const Elf64_Phdr *)copy
									: NULL;
	}
	return NULL;
}

/* Read the program headers: bias, unwind information, build id. */
static bool headers_read(const struct run *r, struct agent_module *m, struct pmm_module *rec)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)(agent.scratch + HEADER_AT);
	const Elf64_Phdr *ph;
	uint64_t eh = 0, eh_bytes = 0;
	bool have_bias = false;

	if (r->end - r->start < ARCH_PAGE ||
	    !module_copy(agent.scratch + HEADER_AT, r->start, ARCH_PAGE) ||
	    *(const uint32_t *)e->e_ident != 0x464c457f || e->e_ident[EI_CLASS] != ELFCLASS64 ||
	    e->e_phentsize != sizeof(*ph) || e->e_phnum > MOST_PHDRS || !(ph = headers_find(r, e)))
		return false;
	for (unsigned i = 0; i < e->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && ph[i].p_offset < ARCH_PAGE && !have_bias) {
			rec->bias = r->start - (ph[i].p_vaddr & ~(ARCH_PAGE - 1));
			have_bias = true;
		}
	if (!have_bias)
		return false;
	for (unsigned i = 0; i < e->e_phnum; i++) {
		uint64_t at = rec->bias + ph[i].p_vaddr;

		if (!inside(r, at, ph[i].p_filesz))
			continue;
		if (ph[i].p_type == PT_GNU_EH_FRAME) {
			eh = at;
			eh_bytes = ph[i].p_filesz;
		} else if (ph[i].p_type == PT_NOTE && !rec->build_id_len) {
			size_t bytes = ph[i].p_filesz < ARCH_PAGE ? ph[i].p_filesz : ARCH_PAGE;
			const char *note = note_at(r, at, bytes);

			if (note)
				build_id_find(note, note + bytes, rec);
		}
	}
	if (!eh && agent.given.hdr &&
	    inside(r, agent.given.start, agent.given.end - agent.given.start))
		m->cfi = agent.given;
	for (unsigned i = 0; i < e->e_phnum && eh; i++) {
		uint64_t at = rec->bias + ph[i].p_vaddr;

		if (ph[i].p_type == PT_LOAD && eh >= at && eh - at < ph[i].p_filesz &&
		    inside(r, at, ph[i].p_filesz)) {
			m->cfi.start = at;
			m->cfi.end = at + ph[i].p_filesz;
			m->cfi.hdr = eh;
			m->cfi.hdr_bytes = eh_bytes;
		}
	}
	return true;
}

/* The number of a module that was here before and went away, or 0. */
static uint32_t module_return(const struct pmm_module *rec)
{
	struct pmm_ledger *l = agent.ledger;

	for (uint32_t nr = 1; nr < l->nr_modules; nr++) {
		struct pmm_module *m = arena_chunk(l->module_dir, nr, PMM_MODULE_SHIFT, sizeof(*m));

		if (m && m->unload_tick && m->start == rec->start && m->end == rec->end &&
		    m->dev == rec->dev && m->ino == rec->ino && m->bias == rec->bias) {
			m->unload_tick = 0;
			return nr;
		}
	}
	return 0;
}

/*
 * Write a module to the ledger under this number. The one with malloc also gives the allocator its
 * path: the loader's differs where that went over symbolic links (/lib), and readers compare the
 * two.
 */
static bool module_write(uint32_t nr, const struct agent_module *m)
{
	struct pmm_module *out = arena_chunk(agent.ledger->module_dir, nr, PMM_MODULE_SHIFT,
					     sizeof(*out));

	if (!out) {
		ADD(agent.ledger->dropped[PMM_DROP_MODULE_FULL], 1);
		return false;
	}
	*out = m->rec;
	out->path = m->rec.path_len ? arena_string(agent.paths + m->path, m->rec.path_len) : 0;
	out->path_len = out->path ? m->rec.path_len : 0;
	if (out->path && (uint64_t)agent.next.malloc - out->start < out->end - out->start) {
		agent.ledger->allocator = out->path;
		agent.ledger->allocator_len = out->path_len;
	}
	return true;
}

/* Take back what is between paths: of modules that have gone. They are in the order of the list. */
static void paths_pack(void)
{
	uint32_t to = 0;

	for (uint32_t i = 0; i < agent.nr_modules; i++) {
		struct agent_module *m = &agent.modules[i];
		const char *from = agent.paths + m->path;

		if (!m->rec.path_len)
			continue;
		m->path = to;
		for (uint32_t k = 0; k < m->rec.path_len; k++)
			agent.paths[to++] = from[k];
	}
	agent.paths_used = to;
}

/* Of the module that is about to be the list's last. */
static void path_note(struct agent_module *m, const char *path, uint32_t path_len)
{
	if (path_len >= AGENT_PATHS_BYTES - agent.paths_used)
		paths_pack();
	if (path_len >= AGENT_PATHS_BYTES - agent.paths_used)
		return;
	m->path = agent.paths_used;
	m->rec.path_len = path_len;
	memcpy(agent.paths + agent.paths_used, path, path_len);
	agent.paths_used += path_len;
}

/* Record a module in the ledger; 0 when there is no room. */
static uint32_t module_record(const struct agent_module *m)
{
	uint32_t nr = agent.ledger->nr_modules;

	if (nr >= PMM_MAX_MODULES) {
		ADD(agent.ledger->dropped[PMM_DROP_MODULE_FULL], 1);
		return 0;
	}
	if (!module_write(nr, m))
		return 0;
	STORE_RELEASE(agent.ledger->nr_modules, nr + 1);
	return nr;
}

/* glibc's struct dl_find_object, <dlfcn.h>. */
struct found_object {
	uint64_t flags, start, end;
	void *map, *eh_frame;
	uint64_t reserved[7];
};

/*
 * Does the loader have this module at pc, with its unwind information where we have it? Takes no
 * lock and may be asked in a signal handler: the one way to see an unload that was not reported to
 * us (iconv's and NSS's come and go inside libc).
 */
static __attribute__((noinline)) bool loader_agrees(uint64_t start, uint64_t end, uint64_t hdr,
						    uint64_t pc)
{
	struct found_object o;

	/* a static program's by segment */
	return agent.find_object && !agent.find_object((void *)pc, &o) && o.start >= start &&
	       o.start < end && (uint64_t)o.eh_frame == hdr;
}

bool module_loaded(uint64_t address)
{
	struct found_object o;

	return agent.find_object && !agent.find_object((void *)address, &o);
}

static bool module_listed(const struct agent_module *m)
{
	return m->cfi.hdr && loader_agrees(m->start, m->end, m->cfi.hdr, m->start);
}

static void run_end(const struct run *r)
{
	struct agent_module *m;

	if (!r->executable || r->end <= r->start)
		return;
	for (uint32_t i = 0; i < agent.nr_modules; i++) {
		m = &agent.modules[i];
		if (m->start == r->start && m->end == r->end && m->dev == r->dev &&
		    m->ino == r->ino) {
			m->seen = agent.module_scan;
			m->listed |= module_listed(m);
			return;
		}
	}
	if (agent.nr_modules >= AGENT_MAX_MODULES) {
		/* it is met again in each scan */
		if (!LOAD(agent.ledger->dropped[PMM_DROP_MODULE_FULL]))
			ADD(agent.ledger->dropped[PMM_DROP_MODULE_FULL], 1);
		return;
	}
	m = &agent.modules[agent.nr_modules];
	*m = (struct agent_module){ .start = r->start, .end = r->end, .dev = r->dev, .ino = r->ino,
				    .seen = agent.module_scan };
	m->rec = (struct pmm_module){
		.start = r->start, .end = r->end, .dev = r->dev, .ino = r->ino
	};
	if (r->whole && headers_read(r, m, &m->rec)) {
		m->rec.load_tick = clock_now();
		m->id = module_return(&m->rec);
		path_note(m, r->path, r->path_len);
		if (!m->id)
			m->id = module_record(m);
	}
	m->listed = module_listed(m);
	agent.nr_modules++;
}

/* ---- /proc/self/maps ------------------------------------------------------------------------- */

/* The run's last piece, which begins there. */
static void part_note(struct run *r, uint64_t start, uint64_t offset)
{
	if (r->nr_parts < MOST_PARTS)
		parts()[r->nr_parts++] = (struct part){ start, r->end, offset };
}

/* One line, NUL-terminated: extend the current run or end it and begin another. */
static void line_take(const char *s, const char *end, struct run *r, char *path)
{
	uint64_t start, stop, offset, major, minor, ino;
	bool readable, executable, same;

	s = str_number(s, 16, &start) + 1;
	s = str_number(s, 16, &stop) + 1;
	readable = s[0] == 'r';
	executable = s[2] == 'x';
	s = str_number(s + 5, 16, &offset) + 1;
	s = str_number(s, 16, &major) + 1;
	s = str_number(s, 16, &minor) + 1;
	s = str_number(s, 10, &ino);
	while (*s == ' ')
		s++;
	same = ino && ino == r->ino && (major << 32 | minor) == r->dev && r->whole && offset &&
	       start >= r->end;
	if (same) {
		r->end = r->next = stop;
		r->executable |= executable && readable;
		part_note(r, start, offset);
		return;
	}
	if (s == end && !executable && r->whole && start == r->next) {
		r->next = stop;		/* its .bss, behind which more of the file may be */
		return;
	}
	run_end(r);
	r->start = start;
	r->end = r->next = stop;
	r->dev = major << 32 | minor;
	r->ino = ino;
	r->executable = executable && readable;
	r->whole = readable && ((ino && !offset) || str_equal(s, "[vdso]"));
	r->nr_parts = 0;
	part_note(r, start, offset);
	r->path_len = (uint32_t)(end - s);
	if (r->path_len > 4095)
		r->path_len = 4095;
	memcpy(path, s, r->path_len);
	path[r->path_len] = '\0';
	r->path = path;
}

static long text_read(struct module_text *t, char *to, size_t bytes)
{
	long n = bytes < t->end - t->at ? (long)bytes : (long)(t->end - t->at);

	if (t->fd < 0)
		memcpy(to, (const void *)t->at, (size_t)n);
	else
		n = sys4(pread64, t->fd, to, n, t->at);
	if (n > 0)
		t->at += (uint64_t)n;
	return n;
}

static void lines_take(struct module_text *text)
{
	char *buf = agent.scratch, *path = agent.scratch + PATH_AT;
	struct run run = { 0 };
	size_t held = 0;
	long n;

	while ((n = text_read(text, buf + held, CHUNK - held)) > 0) {
		char *line = buf, *end = buf + held + n;

		for (char *p = line; p < end; p++)
			if (*p == '\n') {
				*p = '\0';
				line_take(line, p, &run, path);
				line = p + 1;
			}
		held = (size_t)(end - line);
		if (held >= CHUNK)
			held = 0;
		for (size_t i = 0; i < held; i++)
			buf[i] = line[i];
	}
	run_end(&run);
}

/* Read all mappings; modules that are gone are marked as unloaded. */
static void modules_read(struct module_text *text)
{
	uint32_t kept = 0;

	agent.module_scan++;
	lines_take(text);
	for (uint32_t i = 0; i < agent.nr_modules; i++) {
		struct agent_module *m = &agent.modules[i];

		if (m->seen == agent.module_scan) {
			agent.modules[kept++] = *m;
		} else if (m->id) {
			struct pmm_module *rec = arena_chunk(agent.ledger->module_dir, m->id,
							     PMM_MODULE_SHIFT, sizeof(*rec));

			if (rec)
				rec->unload_tick = clock_now() + !clock_now();
		}
	}
	agent.nr_modules = kept;
}

static bool modules_scan(void)
{
	struct module_text text = { .end = INT64_MAX };

	/* a first thread that has ended has none */
	text.fd = agent.confined ? -1 : sys_open("/proc/thread-self/maps", SYS_O_RDONLY);
	if (text.fd < 0)
		return false;
	modules_read(&text);
	sys1(close, text.fd);
	return true;
}

static bool modules_search(uint64_t pc, struct module_at *out)
{
	for (uint32_t i = 0; i < agent.nr_modules; i++) {
		const struct agent_module *m = &agent.modules[i];

		if (pc < m->start || pc >= m->end)
			continue;
		*out = (struct module_at){ m->start, m->end, m->id, m->cfi };
		return !m->listed || loader_agrees(out->start, out->end, out->cfi.hdr, pc);
	}
	return false;
}

bool module_start(const struct module_text *text)
{
	bool has_proc, own;

	/* the thread pointer may not be set up yet */
	if (!module_lock((uint32_t)sys0(gettid), &own))
		return false;
	STORE(agent.module_reading, true);
	agent.module_gen = agent.code_gen;
	has_proc = modules_scan();
	if (!has_proc && text)
		modules_read(&(struct module_text){ text->fd, text->at, text->end });
	STORE(agent.module_reading, false);
	module_unlock();
	return has_proc;
}

/* The lock is ours, or our thread's own where `own`: then a signal handler interrupted it. */
static bool known_search(uint64_t pc, struct module_at *out, bool own)
{
	return agent.module_gen == agent.code_gen && !(own && LOAD(agent.module_reading)) &&
	       modules_search(pc, out);
}

/* None that is known holds pc: read them anew. */
static bool search_anew(uint64_t pc, struct module_at *out)
{
	uint64_t mask;
	bool held = signals_hold(&mask), found = false, own;

	if (module_lock(ctx_tid(arch_thread_pointer()), &own)) {
		found = known_search(pc, out, false);
		if (!found) {
			STORE(agent.module_reading, true);
			agent.module_gen = agent.code_gen;
			found = modules_scan() && modules_search(pc, out);
			STORE(agent.module_reading, false);
		}
		module_unlock();
	}
	if (held)
		signals_let_go(&mask);
	return found;
}

bool module_find(uint64_t pc, struct module_at *out)
{
	bool found, own;

	if (module_own(pc)) {
		*out = (struct module_at){ .start = agent.own.start,
					   .end = agent.own.end,
					   .cfi = agent.own };
		return true;
	}
	if (!module_lock(ctx_tid(arch_thread_pointer()), &own))
		return own && known_search(pc, out, true);
	found = known_search(pc, out, false);
	module_unlock();
	return found || search_anew(pc, out);
}

void module_record_all(void)
{
	static const struct agent_module gone;
	uint32_t end = 1;

	for (uint32_t i = 0; i < agent.nr_modules; i++)
		if (agent.modules[i].id >= end)
			end = agent.modules[i].id + 1;
	/* what the parent had unloaded keeps its number, empty */
	for (uint32_t nr = 1; nr < end; nr++)
		if (!module_write(nr, &gone))
			return;
	for (uint32_t i = 0; i < agent.nr_modules; i++)
		if (agent.modules[i].id)
			module_write(agent.modules[i].id, &agent.modules[i]);
	STORE_RELEASE(agent.ledger->nr_modules, end);
}
