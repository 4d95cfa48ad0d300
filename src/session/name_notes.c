/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that are missing in a result. */
#include "src/session/name_notes.h"

#include <errno.h>
#include <string.h>

#include "src/base/fmt.h"

void name_notes_failed(const struct session_sink *to, const struct symbolizer *sym,
		       const struct names *n)
{
	int rc = !sym || n->failed ? -ENOMEM : symbolizer_error(sym);

	if (rc)
		session_warn(to, "functions, files or lines may be missing here: %s",
			     rc == -ENOMEM ? "out of memory" : strerror(-rc));
}

void name_notes_losses(const struct session_sink *to, struct symbolizer *sym, const struct heap *h,
		       const char *option)
{
	const char *last = NULL;

	for (uint32_t i = 0; i < h->nr_modules; i++) {
		struct symbol_module_info info = symbolizer_module_seen(sym, i);

		if (!info.too_large || info.too_large == last)
			continue;
		last = info.too_large;
		if (info.too_large_bytes == UINT64_MAX)
			session_note(to,
				     "the debug information of '%s' is not used: it decompresses "
				     "to an implausible size",
				     info.too_large);
		else
			session_note(to,
				     "the debug information of '%s' is not used: with it, that of "
				     "all files takes %s of memory, more than the limit%s%s%s",
				     info.too_large, fmt_bytes(info.too_large_bytes).s,
				     *option ? " (" : "", option, *option ? ")" : "");
	}
}

void name_notes(const struct session_sink *to, const struct naming *n, const char *option)
{
	if (n->sym && n->full) {
		symbolizer_save(n->sym);
		name_notes_losses(to, n->sym, n->heap, option);
	}
	if (n->wanted)
		name_notes_failed(to, n->sym, &n->names);
}
