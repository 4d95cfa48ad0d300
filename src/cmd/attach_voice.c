/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a session's words get out. */
#include "src/cmd/attach_voice.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_NS	100000000ull	/* between two looks whether somebody reads again */

/* Wait a moment for a reader that sleeps; false when something else is to be done first. */
static bool wait_for_reader(struct session *s)
{
	uint64_t now_ns;

	if (!s->a)
		return true;
	now_ns = attach_now_ns(s->a);
	if (now_ns >= s->end_ns)
		return false;
	if (s->event == WATCH_GOES_ON)
		session_wait(s, now_ns + PATIENCE_NS);
	return s->event == WATCH_GOES_ON;
}

/*
 * Write what is unsaid, a piece at a time that a pipe takes without blocking. As long as we are
 * attached nothing may keep us.
 */
static void drain(struct session *s)
{
	size_t done = 0;

	while (!s->mute && done < s->unsaid.len) {
		struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };
		size_t n = s->unsaid.len - done < PIPE_BUF ? s->unsaid.len - done : PIPE_BUF;
		ssize_t written;

		if (poll(&p, 1, s->a ? 0 : -1) == 0) {
			if (!wait_for_reader(s))
				break;
			continue;
		}
		written = write(STDOUT_FILENO, s->unsaid.s + done, n);
		if (written > 0)
			done += (size_t)written;
		else if (written < 0 && errno != EINTR && errno != EAGAIN)
			s->mute = errno;
	}
	memmove(s->unsaid.s, s->unsaid.s + done, s->unsaid.len - done + 1);
	s->unsaid.len -= done;
}

struct say *voice_begin(struct session *s)
{
	s->say.out = s->mute ? NULL : open_memstream(&s->words, &s->nr_words);
	if (!s->say.out && !s->mute)
		s->out_of_memory = true;
	return s->say.out ? &s->say : NULL;
}

void voice_end(struct session *s)
{
	if (s->say.out && fclose(s->say.out) == 0)
		str_addn(&s->unsaid, s->words, s->nr_words);
	if (s->say.out)
		free(s->words);
	s->out_of_memory |= s->say.failed;
	s->say.out = NULL;
	if (s->unsaid.len)
		drain(s);
}
