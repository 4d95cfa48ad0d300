/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of the resident memory the heap explains. */
#include "src/view/resident.h"

#include "src/base/fmt.h"
#include "src/view/report_priv.h"

void resident_text(const struct heap *h, const struct heap_resident *r, struct str *s)
{
	str_addf(s, "%s %s", fmt_bytes(r->bytes).s,
		 h->end == HEAP_RUNNING ? report_when(h) : "when last seen");
	if (r->peak_bytes == r->bytes)
		return;
	if (r->peak_ns == UINT64_MAX) {
		str_addf(s, ", at most %s", fmt_bytes(r->peak_bytes).s);
		return;
	}
	str_addf(s, ", at most %s %s ", fmt_bytes(r->peak_bytes).s, report_after(h, r->peak_ns).s);
	str_addf(s, "(then %s live)", fmt_bytes(r->peak_live_bytes).s);
}

void resident_parts_text(const struct heap *h, const struct heap_resident *r, struct str *s)
{
	const char *about = h->mode == HEAP_SAMPLED ? "about " : "";
	uint64_t known = h->live_bytes + h->ledger_bytes;

	if (h->live_bytes > r->bytes) {
		str_addf(s, "less than the live heap: %s%s of it ", about,
			 fmt_bytes(h->live_bytes - r->bytes).s);
		str_add(s, "or more was never touched, or is swapped out");
		return;
	}
	str_addf(s, "%s%s live heap, ", about, fmt_bytes(h->live_bytes).s);
	str_addf(s, "%s pmm's ledger", fmt_bytes(h->ledger_bytes).s);
	if (known > r->bytes)
		str_add(s, h->end == HEAP_RUNNING
				   ? "; together more than that: not all of it is resident"
				   : "; together more than that: not all of it was resident, or it "
				     "grew after that");
	else if (known < r->bytes)
		str_addf(s,
			 ", %s other: what the allocator keeps free, mappings, libraries, stacks",
			 fmt_bytes(r->bytes - known).s);
}
