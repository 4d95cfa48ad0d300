/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a session's words get out: into memory first, then to standard output as it takes them. As
 * long as we are attached no reader that sleeps may keep us from ticking the process's clock, nor
 * from detaching.
 */
#ifndef CMD_ATTACH_VOICE_H
#define CMD_ATTACH_VOICE_H

#include "src/session/attach/attach_session.h"

/*
 * What follows goes to the say's stream, up to voice_end(). NULL when nothing can be written any
 * more or memory is out.
 */
struct say *voice_begin(struct session *s);

/* Write what was said, or as much as goes; the rest follows next time. */
void voice_end(struct session *s);

#endif
