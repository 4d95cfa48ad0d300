/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Victims of the tests of entries (tests/prog/entries_list.c, entries_cxx.cc): they print where
 * their functions are and end when their standard input does.
 */
#ifndef TESTS_UNIT_ENTRIES_VICTIM_H
#define TESTS_UNIT_ENTRIES_VICTIM_H

#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/entries/entries.h"

struct victim {
	pid_t pid;
	int in;				/* closed: it ends */
	FILE *out;
	struct { char sign, name[48]; uint64_t address; } said[256];
	size_t nr;
};

/* Its path: beside the test. */
static inline const char *path_of(const char *name)
{
	static char path[768];
	ssize_t n = readlink("/proc/self/exe", path, 512);
	char *slash = n > 0 ? memrchr(path, '/', (size_t)n) : NULL;
	size_t at = slash ? (size_t)(slash - path) + 1 : 0;

	snprintf(path + at, sizeof(path) - at, "%s", name);
	return path;
}

static inline void need(const char *path)
{
	if (access(path, R_OK))
		skip();			/* the test's name says what is missing */
}

static inline void listen_to(struct victim *v)
{
	char line[256];

	while (fgets(line, sizeof(line), v->out) && strcmp(line, "end\n")) {
		assert_true(v->nr < NR(v->said));
		assert_int_equal(sscanf(line, "%c %47s 0x%lx", &v->said[v->nr].sign,
					v->said[v->nr].name, &v->said[v->nr].address),
				 3);
		v->nr++;
	}
}

/* Start a victim; `prepare` (may be NULL) runs in the child. */
static inline void start(struct victim *v, const char *path, const char *preload,
			 const char *library, void (*prepare)(void))
{
	int in[2], out[2];

	memset(v, 0, sizeof(*v));
	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
	v->pid = fork();
	assert_true(v->pid >= 0);
	if (!v->pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		if (preload)
			setenv("LD_PRELOAD", preload, 1);
		if (prepare)
			prepare();
		execl(path, path, library, "libc.so.6", NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	v->in = in[1];
	v->out = fdopen(out[0], "r");
	listen_to(v);
}

/* End it; it must not have noticed anything. */
static inline void stop(struct victim *v)
{
	int status;

	close(v->in);
	fclose(v->out);
	assert_int_equal(waitpid(v->pid, &status, 0), v->pid);
	assert_int_equal(status, 0);
}

static inline uint64_t said(const struct victim *v, const char *name)
{
	for (size_t i = 0; i < v->nr; i++)
		if (!strcmp(v->said[i].name, name))
			return v->said[i].address;
	fail_msg("the victim does not know '%s'", name);
	return 0;
}

static inline const struct entry_found *found_at(const struct entries *found, uint64_t address)
{
	for (size_t i = 0; i < found->nr; i++)
		if (found->v[i].address == address)
			return &found->v[i];
	return NULL;
}

static inline void find(const struct victim *v, struct entries *found)
{
	struct err e = { 0 };

	if (entries_find(v->pid, NULL, 0, found, &e))
		fail_msg("%s", e.text);
	for (size_t i = 0; i + 1 < found->nr; i++)
		assert_true(found->v[i].address < found->v[i + 1].address);
}

/* All that the victim says must be found is, and nothing that it does not know of. */
static inline void compare(const struct victim *v, const struct entries *found)
{
	for (size_t i = 0; i < v->nr; i++)
		if (v->said[i].sign == '+' && !found_at(found, v->said[i].address))
			fail_msg("'%s' not found", v->said[i].name);
	for (size_t i = 0; i < found->nr; i++) {
		const struct entry_found *f = &found->v[i];
		bool known = false, named = false;

		for (size_t k = 0; k < v->nr; k++)
			if (v->said[k].address == f->address && v->said[k].sign != '.') {
				known = true;
				named |= !strcmp(v->said[k].name, f->name);
			}
		if (!known || !named)
			fail_msg("'%s' found at %#lx in '%s', which the victim does not have there",
				 f->name, f->address, f->module);
		if (f->refused)
			fail_msg("'%s' refused: %s", f->name, f->refused);
		if (!f->size || f->address < f->module_start ||
		    f->address + f->size > f->module_end)
			fail_msg("'%s': %#lx to %#lx, in '%s' of %#lx to %#lx", f->name, f->address,
				 f->address + f->size, f->module, f->module_start, f->module_end);
	}
}

#endif
