/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A higher priority while the kernel's events are read: on a busy machine the ring would fill while
 * we wait for a processor; we need little of it, but soon. Without the right to it (CAP_SYS_NICE)
 * more is lost, and counted.
 */
#ifndef SESSION_TRACE_PROMPT_H
#define SESSION_TRACE_PROMPT_H

#include <stdbool.h>

/* All zero: not prompt. */
struct prompt {
	bool on;
	int nice;			/* as it was */
};

/* After a program was forked that is to be as we were. Once more: nothing. */
void prompt_begin(struct prompt *p);
void prompt_end(struct prompt *p);

#endif
