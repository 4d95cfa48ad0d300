/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `pmm doctor` finds out: one line per thing that pmm uses or will use on this machine.
 */
#ifndef SESSION_DOCTOR_DOCTOR_H
#define SESSION_DOCTOR_DOCTOR_H

#include <stdbool.h>

#include "src/base/vec.h"
#include "src/session/session.h"

#define DOCTOR_SCHEMA	"pmm-doctor/1.0"

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_NOTE, /* works, with something to know */
	DOCTOR_NO,   /* does not work; only what `needed` names stands in the way of `pmm run` */
};
#define DOCTOR_NR_STATES (DOCTOR_NO + 1)

struct doctor_finding {
	const char *check; /* constant, a word: key in JSON */
	enum doctor_state state;
	bool needed;	    /* `pmm run` cannot do without it */
	char *found;	    /* owned, one sentence */
	const char *remedy; /* constant; NULL = nothing to do */
};

struct doctor {
	VEC(struct doctor_finding) findings;
};

/* Note a finding. Out of memory leaves it out. */
void doctor_add(struct doctor *d, const char *check, enum doctor_state state, bool needed,
		const char *remedy, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/*
 * The kernel: memory files, madvise, pidfds, ptrace, map_files, capabilities, BTF, pmm's module.
 */
void doctor_kernel(struct doctor *d);

/* The machine around pmm: container, limits of memory, address space and core files. */
void doctor_limits(struct doctor *d);

/* pmm itself: the agent and a trial run under it, symbols of the C library, debuginfod. */
void doctor_program(struct doctor *d);

/* Attaching to a running process, tried on a child. */
void doctor_attach(struct doctor *d);

/*
 * All of these, and their verdict as one document. 1 = `pmm run` can work here, 0 = it cannot,
 * -errno with `e`. It runs a program, attaches to a child of its own, and may be ended by SIGXFSZ
 * where that is not ignored.
 */
int doctor(const struct session_sink *to, struct err *e);

#endif
