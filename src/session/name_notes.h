/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is noted of names that are missing in a result.
 */
#ifndef SESSION_NAME_NOTES_H
#define SESSION_NAME_NOTES_H

#include "src/names/naming.h"
#include "src/session/session.h"

/*
 * What a report says without names although there may be some, for want of memory or descriptors.
 * `sym` NULL: there was not even memory for it.
 */
void name_notes_failed(const struct session_sink *to, const struct symbolizer *sym,
		       const struct names *n);

/*
 * Both of them, of names that are not asked for any more; what was found is kept for the next run.
 * Says nothing where no names were wanted.
 */
void name_notes(const struct session_sink *to, const struct naming *n, const char *option);

/*
 * What lookups had to leave out, one note a file. `option`: how to allow more; "" = the command has
 * none.
 */
void name_notes_losses(const struct session_sink *to, struct symbolizer *sym, const struct heap *h,
		       const char *option);

#endif
