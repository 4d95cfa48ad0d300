/* SPDX-License-Identifier: MIT */
/*
 * How much of this process's memory is resident.
 */
#include "agent/resident.h"

#include "agent/sys.h"

#define PIECE	256	/* read at a time: there may be little stack */

/* "NAME:   1234 kB" at the start of a line, looked for byte by byte. */
struct wanted {
	const char *name;
	uint32_t at;			/* bytes of the name that the line has so far; NO_LINE: it is another line */
	uint64_t kib;
	bool done;
};

#define NO_LINE	UINT32_MAX

static void feed(struct wanted *w, char c)
{
	if (c == '\n') {
		w->done |= w->at != NO_LINE && !w->name[w->at];
		w->at = 0;
	} else if (w->at == NO_LINE || w->done) {
		return;
	} else if (!w->name[w->at]) {
		if (c >= '0' && c <= '9')
			w->kib = w->kib * 10 + (uint64_t)(c - '0');
	} else {
		w->at = w->name[w->at] == c ? w->at + 1 : NO_LINE;
	}
}

void resident_note(struct pmm_ledger *l)
{
	struct wanted now = { .name = "VmRSS:" }, peak = { .name = "VmHWM:" };
	int fd = sys_open("/proc/self/status", SYS_O_RDONLY);
	char piece[PIECE];
	long n;

	if (fd < 0)
		return;
	while ((n = sys3(read, fd, piece, sizeof(piece))) > 0 && !(now.done && peak.done))
		for (long i = 0; i < n; i++) {
			feed(&now, piece[i]);
			feed(&peak, piece[i]);
		}
	sys1(close, fd);
	if (!now.done || !peak.done)
		return;
	STORE(l->resident_bytes, now.kib * 1024);
	STORE(l->resident_peak_bytes, peak.kib * 1024);
}
