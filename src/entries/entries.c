/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The allocator's functions in a running process.
 */
#include "src/entries/entries.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/entries/entries_custom.h"
#include "src/entries/entries_scan.h"


/* ---- whose malloc is it ---------------------------------------------------------------------- */

static bool has_alias(const struct scan *s, const struct candidate *malloc_,
		      enum names_prefix prefix)
{
	for (size_t i = 0; i < s->found.nr; i++)
		if (s->found.v[i].name && s->found.v[i].prefix == prefix &&
		    s->found.v[i].address == malloc_->address)
			return true;
	return false;
}

static enum entries_allocator whose(const struct scan *s, const struct candidate *c)
{
	unsigned marks = s->marks[c->object];

	if (has_alias(s, c, NAMES_MI))
		return ENTRIES_MIMALLOC;
	if (has_alias(s, c, NAMES_TC))
		return ENTRIES_TCMALLOC;
	if (has_alias(s, c, NAMES_JE) || has_alias(s, c, NAMES_RJEM))
		return ENTRIES_JEMALLOC;
	if (marks & NAMES_MARK_GLIBC && has_alias(s, c, NAMES_LIBC))
		return ENTRIES_GLIBC;
	if (marks & NAMES_MARK_SANITIZER)
		return ENTRIES_SANITIZER;
	if (marks & NAMES_MARK_LIBC && !(marks & NAMES_MARK_GLIBC))
		return ENTRIES_MUSL;
	if (marks & NAMES_MARK_MIMALLOC)
		return ENTRIES_MIMALLOC;
	if (marks & NAMES_MARK_TCMALLOC)
		return ENTRIES_TCMALLOC;
	return marks & NAMES_MARK_JEMALLOC ? ENTRIES_JEMALLOC : ENTRIES_OTHER;
}

static const struct candidate *malloc_of(const struct scan *s, size_t object)
{
	for (size_t i = 0; i < s->found.nr; i++)
		if (s->found.v[i].object == object && candidate_is(&s->found.v[i], "malloc"))
			return &s->found.v[i];
	return NULL;
}

/*
 * The program's malloc is the first in link order: that is how the loader resolves it for all that
 * was linked with it. (A library loaded with RTLD_LOCAL or RTLD_DEEPBIND may use another; all are
 * patched.)
 */
static int name_allocator(const struct scan *s, struct entries *found)
{
	const struct candidate *first = NULL;

	found->allocator = ENTRIES_OTHER;
	for (size_t i = 0; !first && i < s->found.nr; i++)
		if (s->found.v[i].name && s->found.v[i].name->role == PMM_ROLE_MALLOC &&
		    !s->found.v[i].dropped)
			first = &s->found.v[i];
	for (size_t i = 0; i < s->objects.nr; i++) {
		const struct candidate *c = s->marks[i] & NAMES_MARK_LOADER ? NULL
									    : malloc_of(s, i);

		if (c) {
			first = c;
			break;
		}
	}
	if (first)
		found->allocator = whose(s, first);
	else if (found->nr)
		found->allocator = ENTRIES_CUSTOM;
	if (first || found->nr) {
		found->allocator_path = strdup(first ? s->objects.v[first->object].path
						     : found->v[0].module);
		return found->allocator_path ? 0 : -ENOMEM;
	}
	return 0;
}

/* glibc's blocks begin at least 32 bytes apart; of no other allocator is that known. */
static bool is_dense(const struct scan *s, const struct candidate *c)
{
	const struct candidate *object_malloc = malloc_of(s, c->object);

	if (c->custom)
		return c->custom->role == PMM_ROLE_CUSTOM_ALLOC;
	if (c->name->kind == PMM_KIND_MMAP || c->name->kind == PMM_KIND_NONE)
		return false;
	return !object_malloc || whose(s, object_malloc) != ENTRIES_GLIBC ||
	       c->name->role >= PMM_ROLE_NEW ||
	       (c->prefix != NAMES_PUBLIC && c->prefix != NAMES_LIBC);
}

/* ---- from candidates to entries -------------------------------------------------------------- */

/*
 * What can do an operator new's work without throwing: malloc and memalign of the same allocator,
 * where it is known that its free and its operator delete take each other's blocks.
 */
static uint64_t plain_of(const struct scan *s, const struct candidate *c)
{
	const struct candidate *object_malloc = malloc_of(s, c->object);
	enum entries_allocator owner = object_malloc ? whose(s, object_malloc) : ENTRIES_OTHER;
	const char *wanted = c->name->role == PMM_ROLE_NEW_ALIGNED ? "memalign" : "malloc";

	if (owner != ENTRIES_JEMALLOC && owner != ENTRIES_TCMALLOC && owner != ENTRIES_MIMALLOC)
		return 0;
	if (s->objects.v[c->object].is_program && !has_alias(s, c, NAMES_TC) &&
	    !has_alias(s, c, NAMES_MI))
		return 0;	/* the operator may be the program's own */
	for (size_t i = 0; i < s->found.nr; i++)
		if (s->found.v[i].object == c->object && candidate_is(&s->found.v[i], wanted))
			return s->found.v[i].address;
	return 0;
}

static int entry_make(const struct scan *s, const struct candidate *c, struct entry_found *f)
{
	const struct object *o = &s->objects.v[c->object];

	*f = (struct entry_found){
		.address = c->address,
		.size = c->size,
		.module_start = o->start,
		.module_end = o->end,
		.arg_size = -1,
		.arg_count = -1,
		.arg_pointer = -1,
	};
	if (c->custom) {
		f->role = c->custom->role;
		f->kind = f->role == PMM_ROLE_CUSTOM_FREE ? PMM_KIND_NONE : PMM_KIND_OTHER;
		f->arg_size = c->custom->arg_size;
		f->arg_count = c->custom->arg_count;
		f->arg_pointer = c->custom->arg_pointer;
		f->fixed_bytes = c->custom->fixed_bytes;
	} else {
		f->role = c->name->role;
		f->kind = c->name->kind;
		f->arg_size = c->name->arg_size;
		f->arg_count = c->name->arg_count;
		f->arg_pointer = c->name->arg_pointer;
		if (f->role == PMM_ROLE_NEW || f->role == PMM_ROLE_NEW_ALIGNED)
			f->plain = plain_of(s, c);
	}
	f->name = strdup(c->symbol);
	f->module = strdup(o->path);
	if (c->type == STT_GNU_IFUNC)
		f->refused = strdup("which code runs is decided when the program starts (ifunc)");
	return f->name && f->module && (c->type != STT_GNU_IFUNC || f->refused) ? 0 : -ENOMEM;
}

/* By address; of several names of an address first what the user named, then the best known. */
static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = *(const struct candidate *const *)a,
			       *y = *(const struct candidate *const *)b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (!x->custom != !y->custom)
		return x->custom ? -1 : 1;
	if (x->prefix != y->prefix)
		return x->prefix < y->prefix ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static int entries_make(const struct scan *s, struct entries *found)
{
	VEC(const struct candidate *) kept = { 0 };
	int rc = 0;

	for (size_t i = 0; !rc && i < s->found.nr; i++)
		if (!s->found.v[i].dropped)
			rc = vec_push(&kept, &s->found.v[i]);
	vec_sort(&kept, compare_candidates);
	found->v = calloc(kept.nr + 1, sizeof(*found->v));
	if (!found->v)
		rc = -ENOMEM;
	for (size_t i = 0; !rc && i < kept.nr; i++) {
		if (found->nr && found->v[found->nr - 1].address == kept.v[i]->address)
			continue;
		rc = entry_make(s, kept.v[i], &found->v[found->nr++]);
		found->dense |= is_dense(s, kept.v[i]);
	}
	vec_fini(&kept);
	return rc;
}

/* Two functions so close that patching the first would overwrite the second. */
static int refuse_overlaps(struct entries *found)
{
	for (size_t i = 0; i + 1 < found->nr; i++) {
		struct entry_found *f = &found->v[i];

		if (f->refused || f->begin != f->address || found->v[i + 1].address >= f->area_high)
			continue;
		f->refused = strdup(
			"another function begins within the bytes that would be overwritten");
		if (!f->refused)
			return -ENOMEM;
	}
	return 0;
}

/* ---- when nothing is found ------------------------------------------------------------------- */

static int none(const struct scan *s, struct err *e)
{
	const struct object *program = NULL;
	bool has_libc = false, is_go = false;

	for (size_t i = 0; i < s->objects.nr; i++) {
		if (s->objects.v[i].is_program)
			program = &s->objects.v[i];
		has_libc |= s->marks[i] & NAMES_MARK_LIBC;
		is_go |= s->marks[i] & NAMES_MARK_GO;
	}
	if (program && program->has_loader && !has_libc && !s->objects.linked) {
		err_set(e, -EAGAIN,
			"process %d has only just been started: its libraries are not loaded yet",
			(int)s->objects.pid);
		err_hint(e, "try again");
		return -EAGAIN;
	}
	if (!program && !s->objects.nr)
		return err_set(
			e, -ENOENT,
			"process %d has no program: it is a thread of the kernel or has ended",
			(int)s->objects.pid);
	err_set(e, -ENOENT,
		"no allocator found in process %d: looked for malloc and free (also je_, tc_, mi_, "
		"__libc_) and operator new in %s",
		(int)s->objects.pid, str_text(&s->looked));
	if (is_go)
		err_hint(e,
			 "it is a Go program without C: the Go runtime manages its heap by itself");
	else
		err_hint(e, "name its functions: --alloc MODULE:0xADDRESS='malloc(arg0)' --alloc "
			    "MODULE:0xADDRESS='free(arg0)'");
	return -ENOENT;
}

static bool is_loaded(const struct scan *s, const struct entries_custom *c)
{
	for (size_t i = 0; i < s->objects.nr; i++)
		if (entries_custom_object(c, &s->objects.v[i]))
			return true;
	return false;
}

static int check_custom(const struct scan *s, struct err *e)
{
	for (size_t i = 0; i < s->nr_custom; i++) {
		const struct entries_custom *c = &s->custom[i];

		if (s->custom_found[i])
			continue;
		if (!is_loaded(s, c)) {
			err_set(e, -ENOENT, "process %d has no program or library '%s' loaded",
				(int)s->objects.pid, c->module);
			err_hint(e,
				 "a module is named as in /proc/%d/maps, by its path or file name, "
				 "or by the file name up to '.so'",
				 (int)s->objects.pid);
			return -ENOENT;
		}
		err_set(e, -ENOENT, "process %d has no function '%s%s%s': looked in %s",
			(int)s->objects.pid, c->module ? c->module : "", c->module ? ":" : "",
			c->name, str_text(&s->looked));
		err_hint(e, "C++ names are given as in 'nm', without --demangle; a function "
			    "without a symbol as MODULE:0xADDRESS");
		return -ENOENT;
	}
	return 0;
}

int entries_find_all(pid_t pid, const struct entries_custom *custom, size_t nr_custom,
		     struct entries *found, struct err *e)
{
	struct scan s;
	int rc;

	*found = (struct entries){ 0 };
	rc = scan_read(pid, custom, nr_custom, &s, e);
	if (!rc)
		rc = check_custom(&s, e);
	if (!rc && !scan_has_allocator(&s) && !nr_custom)
		rc = none(&s, e);
	if (rc)
		goto out;
	scan_choose(&s);
	if (entries_make(&s, found) || scan_begins(&s, found) || refuse_overlaps(found) ||
	    scan_branches(&s, found) || name_allocator(&s, found) ||
	    frames_find(&s.objects, &found->frames))
		rc = err_set(e, -ENOMEM, "out of memory");
	found->single_threaded = s.info[NAMES_SINGLE_THREADED];
	found->find_object = s.info[NAMES_FIND_OBJECT];
	found->vdso_clock = s.info[NAMES_VDSO_CLOCK];
	found->mallinfo2 = found->allocator == ENTRIES_GLIBC ? s.info[NAMES_MALLINFO2] : 0;
out:
	scan_fini(&s);
	return rc;
}

/* ---- guards ---------------------------------------------------------------------------------- */

static void entry_fini(struct entry_found *f)
{
	free(f->name);
	free(f->module);
	free(f->refused);
	free(f->file);
}

static void leave_out(struct entries *found,
		      bool (*is)(const struct entries *all, const struct entry_found *f))
{
	size_t kept = 0;

	for (size_t i = 0; i < found->nr; i++)
		if (is(found, &found->v[i]))
			entry_fini(&found->v[i]);
		else
			found->v[kept++] = found->v[i];
	found->nr = kept;
}

/* Only needed where blocks are guarded. */
static bool is_for_guards(const struct entries *all, const struct entry_found *f)
{
	(void)all;
	return f->role == PMM_ROLE_USABLE_SIZE || f->role == PMM_ROLE_SIGACTION;
}

/*
 * In an object without a malloc, as libbsd: it asks the allocator, whose functions are seen anyway.
 */
static bool is_borrowed(const struct entries *all, const struct entry_found *f)
{
	if (f->role != PMM_ROLE_REALLOCARRAY && strcmp(f->name, "reallocf"))
		return false;
	for (size_t i = 0; i < all->nr; i++)
		if (all->v[i].role == PMM_ROLE_MALLOC && all->v[i].module_start == f->module_start)
			return false;
	return true;
}

int entries_find(pid_t pid, const struct entries_custom *custom, size_t nr_custom,
		 struct entries *found, struct err *e)
{
	int rc = entries_find_all(pid, custom, nr_custom, found, e);

	leave_out(found, is_for_guards);
	return rc;
}

/*
 * A function of the C library's interface that makes, takes or releases blocks, or that guards
 * need.
 */
static bool is_guarded(const struct entry_found *f)
{
	return f->role == PMM_ROLE_FREE
		       ? !strncmp(f->name, "free", 4) || !strcmp(f->name, "cfree")
		       : (f->role >= PMM_ROLE_MALLOC && f->role <= PMM_ROLE_MEMALIGN) ||
				 f->role == PMM_ROLE_USABLE_SIZE || f->role == PMM_ROLE_SIGACTION;
}

/*
 * All functions that make, take or release blocks are there, of one allocator, and can be patched.
 */
static int all_patched(const struct entries *found, pid_t pid, struct err *e)
{
	const struct entry_found *first = NULL;
	unsigned seen = 0;

	for (size_t i = 0; i < found->nr; i++) {
		const struct entry_found *f = &found->v[i];

		if (!is_guarded(f))
			continue;
		if (f->refused)
			return err_set(e, -ENOTSUP,
				       "blocks of process %d cannot be guarded: '%s' cannot be "
				       "patched: %s",
				       (int)pid, f->name, f->refused);
		if (first && first->module_start != f->module_start)
			return err_set(e, -ENOTSUP,
				       "blocks of process %d cannot be guarded: it has several "
				       "allocators, in %s and %s",
				       (int)pid, first->module, f->module);
		first = f;
		seen |= 1u << f->role;
	}
	if (!(seen & 1u << PMM_ROLE_MALLOC) || !(seen & 1u << PMM_ROLE_FREE) ||
	    !(seen & 1u << PMM_ROLE_SIGACTION))
		return err_set(e, -ENOTSUP,
			       "blocks of process %d cannot be guarded: it has no malloc, free or "
			       "sigaction that can be found",
			       (int)pid);
	return 0;
}

int entries_guardable(struct entries *found, pid_t pid, struct err *e)
{
	int rc;

	leave_out(found, is_borrowed);
	if (found->allocator == ENTRIES_SANITIZER)
		rc = err_set(e, -ENOTSUP,
			     "blocks of process %d cannot be guarded: it is checked already, by "
			     "the sanitizer in %s",
			     (int)pid, found->allocator_path);
	else if (found->allocator != ENTRIES_GLIBC && found->allocator != ENTRIES_MUSL)
		rc = err_set(e, -ENOTSUP,
			     "blocks of process %d cannot be guarded: its allocator, in %s, is not "
			     "the C library's",
			     (int)pid, found->allocator_path);
	else
		rc = all_patched(found, pid, e);
	if (rc)
		err_hint(e, "attach without --check%s",
			 found->allocator == ENTRIES_SANITIZER ? ""
			 : found->allocator == ENTRIES_GLIBC || found->allocator == ENTRIES_MUSL
				 ? ", or start the program with 'pmm check'"
				 : ", or start the program with 'pmm check', which works if it "
				   "calls only malloc, free and their kin");
	found->guards = !rc;
	return rc;
}

int entries_still_guardable(const struct entries *found, pid_t pid, struct err *e)
{
	return all_patched(found, pid, e);
}

void entries_fini(struct entries *found)
{
	for (size_t i = 0; i < found->nr; i++)
		entry_fini(&found->v[i]);
	free(found->v);
	free(found->allocator_path);
	frames_fini(&found->frames);
	*found = (struct entries){ 0 };
}
