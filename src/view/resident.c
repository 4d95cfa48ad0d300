/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of the resident memory the heap explains. */
#include "src/view/resident.h"

#include "src/base/fmt.h"
#include "src/view/report_priv.h"

/* PSS is said where it is less than resident memory by one in so many bytes, and by as much */
#define PSS_NOTABLE	4
#define PSS_NOTABLE_BYTES	(8u << 20)	/* more than libraries make */

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

/* The point with most swapped out, the last ones that know sizes and PSS; NULL: there is none. */
struct notable {
	const struct heap_usage_point *most_swap, *sizes, *pss;
};

static struct notable notable_of(const struct heap *h)
{
	struct notable n = { NULL };

	for (uint32_t i = 0; i < h->nr_usage_points; i++) {
		const struct heap_usage_point *p = &h->usage_points[i];

		if (p->known & HEAP_USAGE_SIZES) {
			n.sizes = p;
			if (!n.most_swap || p->swap_bytes > n.most_swap->swap_bytes)
				n.most_swap = p;
		}
		if (p->known & HEAP_USAGE_PSS && p->known & HEAP_USAGE_SIZES)
			n.pss = p;
	}
	return n;
}

void resident_swap_text(const struct heap *h, struct str *s)
{
	const struct notable n = notable_of(h);

	if (!n.most_swap || !n.most_swap->swap_bytes)
		return;
	str_addf(s, "%s %s", fmt_bytes(n.sizes->swap_bytes).s,
		 h->end == HEAP_RUNNING ? report_when(h) : "when last seen");
	if (n.most_swap->swap_bytes > n.sizes->swap_bytes)
		str_addf(s, ", at most %s %s", fmt_bytes(n.most_swap->swap_bytes).s,
			 report_after(h, n.most_swap->time_ns).s);
}

void resident_pss_text(const struct heap *h, struct str *s)
{
	const struct heap_usage_point *p = notable_of(h).pss;
	uint64_t resident;

	if (!p)
		return;
	resident = p->anon_bytes + p->file_bytes + p->shmem_bytes;
	if (p->pss_bytes >= resident - resident / PSS_NOTABLE ||
	    resident - p->pss_bytes < PSS_NOTABLE_BYTES)
		return;
	str_addf(s, "%s; %s of what is resident count for other processes, which have it, "
		 "too",
		 fmt_bytes(p->pss_bytes).s, fmt_bytes(resident - p->pss_bytes).s);
}
