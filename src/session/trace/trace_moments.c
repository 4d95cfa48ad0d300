/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list that is moved by one when it is full: sixty elements, once a second. */
#include "src/session/trace/trace_moments.h"

#include <string.h>

void trace_moments_add(struct trace_moments *m)
{
	if (m->nr == TRACE_OOM_SECONDS) {
		memmove(m->v, m->v + 1, (TRACE_OOM_SECONDS - 1) * sizeof(*m->v));
		m->nr--;
	}
	if (!machine_read("", &m->v[m->nr]))
		m->nr++;
}
