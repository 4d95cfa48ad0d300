/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list of strings that others own: what an option was given again and again. */
#ifndef BASE_TEXTS_H
#define BASE_TEXTS_H

struct texts {
	const char *const *v;
	unsigned nr;
};

#endif
