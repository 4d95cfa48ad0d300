/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the events of a watched process get out: into memory first, then to standard output as it
 * takes them. As long as we are attached no reader that sleeps may keep us from ticking the
 * process's clock, nor from detaching; a reader that is gone ends the watching at once.
 */
#ifndef CMD_ATTACH_VOICE_H
#define CMD_ATTACH_VOICE_H

#include <stdbool.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/str.h"
#include "src/cmd/emit.h"
#include "src/document/doc.h"

struct attach_session;

struct attach_voice {
	struct emit emit;		/* its sink is the session's; notes and documents: stderr */
	struct loop *loop;
	struct loop_source *on_reader;	/* NULL: standard output shows nothing of its reader */
	struct attach_session *session;	/* by the command, while it is attached; else NULL */
	bool json;
	struct style style;
	/* a signal has ended it: a reader that sleeps is not waited for much longer */
	bool hasty;
	/* why nothing can be written any more: an errno; EPIPE: there is no reader. 0 = it can */
	int mute;
	struct str unsaid;		/* not written yet */
	bool draining;			/* it is being written */
};

/* *v must not move. */
void attach_voice_init(struct attach_voice *v, struct loop *l, bool json);

/* Was everything said? 0, or -errno with `e`: it could not be written. */
int attach_voice_said(const struct attach_voice *v, struct err *e);

void attach_voice_fini(struct attach_voice *v);

#endif
