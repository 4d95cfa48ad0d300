/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks at a peak, further apart while all is calm. */
#include "src/track/peak_look.h"

bool peak_look_due(struct peak_look *p, uint64_t rss_bytes, uint64_t now_ns)
{
	if (rss_bytes != p->rss_bytes) {
		if (p->rest_ns > PEAK_LOOK_NS) {
			p->next_ns -= p->rest_ns - PEAK_LOOK_NS;
			p->rest_ns = PEAK_LOOK_NS;
		}
		p->rss_bytes = rss_bytes;
		p->moved = true;
	}
	if (now_ns < p->next_ns)
		return false;
	if (p->moved || !p->rest_ns)
		p->rest_ns = PEAK_LOOK_NS;
	else if (p->rest_ns < PEAK_LOOK_MOST_NS)
		p->rest_ns *= 2;
	p->moved = false;
	p->next_ns = now_ns + p->rest_ns;
	return true;
}
