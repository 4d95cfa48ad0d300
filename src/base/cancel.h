/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A request to end a long piece of work early: asked for between its steps, by code that knows of
 * signals. All zero never asks.
 */
#ifndef BASE_CANCEL_H
#define BASE_CANCEL_H

#include <stdbool.h>
#include <stddef.h>

struct stop {
	/* NULL: no requests. Once true, it stays true until the work has ended */
	bool (*asked)(void *arg);
	void *arg;
};

static inline bool stop_asked(const struct stop *s)
{
	return s->asked && s->asked(s->arg);
}

#endif
