/* SPDX-License-Identifier: GPL-2.0-or-later */
/* setpriority(2), there and back. */
#include "src/session/trace/prompt.h"

#include <errno.h>
#include <sys/resource.h>

#define NICE	(-15)

void prompt_begin(struct prompt *p)
{
	if (p->on)
		return;
	errno = 0;
	p->nice = getpriority(PRIO_PROCESS, 0);
	p->on = !errno && p->nice > NICE && !setpriority(PRIO_PROCESS, 0, NICE);
}

void prompt_end(struct prompt *p)
{
	if (p->on)
		setpriority(PRIO_PROCESS, 0, p->nice);
	p->on = false;
}
