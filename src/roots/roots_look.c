/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of the process is to be seen beside blocks and roots: for names. */
#include "src/roots/roots_state_priv.h"

const struct process_copy_thread *roots_threads(const struct roots *s, size_t *nr)
{
	*nr = 0;
	if (!s->state)
		return NULL;
	*nr = s->state->core.state ? s->state->core.threads.nr : s->state->copied.threads.nr;
	return s->state->core.state ? s->state->core.threads.v : s->state->copied.threads.v;
}

const struct proc_maps *roots_maps(const struct roots *s)
{
	return !s->state	      ? NULL
	       : s->state->core.state ? &s->state->core.maps
				      : &s->state->copied.maps;
}
