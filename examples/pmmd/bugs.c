/* SPDX-License-Identifier: GPL-2.0-or-later */ /* The bugs on show. */
#include "bugs.h"

#include <pmm.h>

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* ---- a leak: what the list held is forgotten with the list */
static char *reply_new(size_t bytes)
{
	char *reply = malloc(bytes);

	if (reply)
		memset(reply, 'a', bytes);
	return reply;
}

/* The client is gone: nobody will confirm what was sent. Here free() is missing. */
static void forget_unacked(struct bugs *bugs)
{
	memset(bugs->unacked, 0, sizeof(bugs->unacked));
	bugs->nr_unacked = 0;
}

size_t bugs_leak(struct bugs *bugs, size_t nr, size_t bytes)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		char *reply = reply_new(bytes);

		if (!reply)
			break;
		if (bugs->nr_unacked == BUGS_WINDOW)
			forget_unacked(bugs);
		bugs->unacked[bugs->nr_unacked++] = reply;
	}
	forget_unacked(bugs);
	bugs->nr_lost += i;
	bugs->bytes_lost += i * bytes;
	return i;
}

/* ---- an overflow: the 0 at the end of a text has no room */
static char *label_new(const char *name)
{
	size_t bytes = strlen(name);
	char *label = malloc(bytes);	/* + 1 is missing */

	if (label)
		memcpy(label, name, bytes + 1);
	return label;
}

int bugs_overflow(struct bugs *bugs, const char *name)
{
	char *label = label_new(name);

	if (!label)
		return -ENOMEM;
	free(bugs->label);
	bugs->label = label;
	return 0;
}

/* ---- a double free: two functions believe that the text is theirs */
struct request {
	char *text;
	bool cancelled;		/* nobody asks */
};

/* Not inlined: the compiler would see the error. */
static void __attribute__((__noinline__)) request_cancel(struct request *request)
{
	free(request->text);
	request->cancelled = true;
}

static void request_end(struct request *request)
{
	free(request->text);
	free(request);
}

int bugs_double_free(void)
{
	struct request *request = malloc(sizeof(*request));

	if (!request)
		return -ENOMEM;
	request->text = strdup("GET /");
	request_cancel(request);
	request_end(request);
	return 0;
}

void bugs_fini(struct bugs *bugs)
{
	free(bugs->label);
	memset(bugs, 0, sizeof(*bugs));
}
