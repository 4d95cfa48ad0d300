/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many captures compared: read one after the other, so that one is in memory at a time.
 */
#ifndef SESSION_DIFF_DIFF_TRENDS_H
#define SESSION_DIFF_DIFF_TRENDS_H

#include "src/session/diff/diff_session.h"

/*
 * Compare `nr` captures, which the user names in their order; conditions are not judged. 0 or
 * -errno with `e`.
 */
int diff_trends_session(const struct diff_session_options *o, char *const *source, unsigned nr,
			const struct session_sink *to, struct err *e);

#endif
