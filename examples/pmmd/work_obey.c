/* The commands: a table of what they are called, what they take and what does them. */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "work.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "monitor.h"
#include "session.h"

enum { NR_ARGS = 2, QUOTED = 40 };

struct argument {
	const char *name;
	uint64_t min, max;
};

struct command {
	const char *name;
	struct argument arg[NR_ARGS];	/* those without a name are not taken */
	void (*run)(struct work *work, struct session *session, const uint64_t *arg);
	const char *what;
};

/* Bytes that the queue will grow by. */
static uint64_t coming(const struct work *work)
{
	return work->queue.rate * (work->queue.ticks - work->queue.tick) / QUEUE_TICKS;
}

/* Answers that there is no room for nr * bytes more; nr and bytes are within their bounds. */
static bool refuse_bytes(struct work *work, struct session *session, uint64_t coming_bytes,
			 uint64_t nr, uint64_t bytes)
{
	uint64_t held = work->cache.bytes + work->queue.bytes + work->bugs.bytes_lost +
			coming_bytes;
	uint64_t left = WORK_BYTES_MAX > held ? WORK_BYTES_MAX - held : 0;

	if (bytes <= left / nr)
		return false;
	session_say(session,
		    "error that would be more than the %d bytes that pmmd takes: %llu are left",
		    WORK_BYTES_MAX, (unsigned long long)left);
	return true;
}

static void do_alloc(struct work *work, struct session *session, const uint64_t *arg)
{
	uint64_t i;

	if (refuse_bytes(work, session, coming(work), arg[0], arg[1]))
		return;
	for (i = 0; i < arg[0]; i++) {
		if (cache_add(&work->cache, arg[1]) < 0) {
			session_say(session, "error no memory after %llu of %llu values",
				    (unsigned long long)i, (unsigned long long)arg[0]);
			return;
		}
	}
	session_say(session, "ok %llu values of %llu bytes in the cache",
		    (unsigned long long)arg[0], (unsigned long long)arg[1]);
}

static void do_free(struct work *work, struct session *session, const uint64_t *arg)
{
	size_t nr = cache_drop(&work->cache, arg[0]);

	session_say(session, "ok %zu values dropped, %zu left", nr, work->cache.nr);
}

static void do_leak(struct work *work, struct session *session, const uint64_t *arg)
{
	size_t nr;

	if (refuse_bytes(work, session, coming(work), arg[0], arg[1]))
		return;
	nr = bugs_leak(&work->bugs, arg[0], arg[1]);
	if (nr < arg[0])
		session_say(session, "error no memory after %zu of %llu replies", nr,
			    (unsigned long long)arg[0]);
	else
		session_say(session, "ok %zu replies of %llu bytes lost", nr,
			    (unsigned long long)arg[1]);
}

static void do_grow(struct work *work, struct session *session, const uint64_t *arg)
{
	if (refuse_bytes(work, session, 0, arg[1], arg[0]))
		return;
	queue_grow(&work->queue, arg[0], arg[1]);
	session_say(session, "ok the queue grows by %llu bytes/s for %llu s",
		    (unsigned long long)arg[0], (unsigned long long)arg[1]);
}

static void do_drain(struct work *work, struct session *session, const uint64_t *arg)
{
	(void)arg;
	session_say(session, "ok %zu records written", queue_drain(&work->queue));
}

static void do_threads(struct work *work, struct session *session, const uint64_t *arg)
{
	int e = crew_resize(&work->crew, (unsigned)arg[0]);

	if (e < 0)
		session_say(session, "error only %u threads could be started: %s", work->crew.nr,
			    strerror(-e));
	else
		session_say(session, "ok %u threads", work->crew.nr);
}

static void do_overflow(struct work *work, struct session *session, const uint64_t *arg)
{
	(void)arg;
	if (bugs_overflow(&work->bugs, "a label of 21 letters") < 0)
		session_say(session, "error no memory");
	else
		session_say(session, "ok a byte behind a label is written");
}

static void do_double_free(struct work *work, struct session *session, const uint64_t *arg)
{
	(void)work;
	(void)arg;
	log_line("a request is freed twice: without a monitor that is the end");
	if (bugs_double_free() < 0)
		session_say(session, "error no memory");
	else
		session_say(session, "ok a request was freed twice");
}

static void do_check(struct work *work, struct session *session, const uint64_t *arg)
{
	(void)work;
	(void)arg;
	if (monitor_is_in())
		session_say(session, "ok damaged blocks: %zu", monitor_check());
	else
		session_say(session, "error this pmmd has no monitor inside: pmm attach --check "
				     "PID guards it from outside");
}

static void do_dump(struct work *work, struct session *session, const uint64_t *arg)
{
	(void)work;
	(void)arg;
	if (!monitor_is_in()) {
		session_say(session, "error this pmmd has no monitor inside: pmm attach PID and "
				     "pmm report PID look from outside");
		return;
	}
	monitor_dump();
	session_say(session, "ok written to the log");
}

static void do_kmod(struct work *work, struct session *session, const uint64_t *arg)
{
	char why[256];

	(void)work;
	if (!monitor_log(arg[0], why, sizeof(why)))
		session_say(session, "error nothing is logged to the kernel module: %s", why);
	else
		session_say(session, "ok requests are %s logged to the kernel module",
			    arg[0] ? "now" : "no more");
}

static void say_line(void *ctx, const char *line)
{
	session_say(ctx, " %s", line);
}

static void do_stats(struct work *work, struct session *session, const uint64_t *arg)
{
	(void)arg;
	work_tell(work, say_line, session);
	session_say(session, "ok");
}

static void do_quit(struct work *work, struct session *session, const uint64_t *arg)
{
	(void)arg;
	work->quit = true;
	session_say(session, "ok");
}

#define NR 1, 1000000
#define BYTES 1, WORK_BYTES_MAX

static const struct command commands[] = {
	{ "alloc",
	  { { "N", NR }, { "SIZE", BYTES } },
	  do_alloc,
	  "put N values of SIZE bytes into the cache" },
	{ "free", { { "N", NR } }, do_free, "drop the N oldest values" },
	{ "leak", { { "N", NR }, { "SIZE", BYTES } }, do_leak, "lose N replies of SIZE bytes" },
	{ "grow",
	  { { "BYTES/S", 10, WORK_BYTES_MAX }, { "SECONDS", 1, 86400 } },
	  do_grow,
	  "let the queue grow at that pace so long" },
	{ "drain", { { 0 } }, do_drain, "empty the queue" },
	{ "threads", { { "N", 0, CREW_MAX } }, do_threads, "let N threads work" },
	{ "overflow", { { 0 } }, do_overflow, "write a byte behind a block" },
	{ "doublefree", { { 0 } }, do_double_free, "free a block twice" },
	{ "check", { { 0 } }, do_check, "look at all blocks for damage; with the monitor inside" },
	{ "dump", { { 0 } }, do_dump, "write all tables to the log; with the monitor inside" },
	{ "kmod",
	  { { "0|1", 0, 1 } },
	  do_kmod,
	  "log requests to the kernel module, or not; with the monitor inside" },
	{ "stats", { { 0 } }, do_stats, "print the daemon's own figures" },
	{ "quit", { { 0 } }, do_quit, "end; returns when the daemon has" },
};

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

/* A client's word as it may be shown and logged: short, and of plain characters. */
static const char *plain(const char *word, char *text)
{
	size_t i;

	for (i = 0; word[i] && i < QUOTED; i++)
		text[i] = isprint((unsigned char)word[i]) ? word[i] : '?';
	strcpy(text + i, word[i] ? "..." : "");
	return text;
}

static bool parse_number(const struct argument *arg, const char *word, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(word, &end, 10);
	return isdigit((unsigned char)word[0]) && !*end && !errno && *value >= arg->min &&
	       *value <= arg->max;
}

static unsigned nr_args(const struct command *command)
{
	return !command->arg[0].name ? 0 : !command->arg[1].name ? 1 : 2;
}

static const char *usage_of(const struct command *command, char *text, size_t room)
{
	unsigned nr = nr_args(command);

	snprintf(text, room, "%s%s%s%s%s", command->name, nr > 0 ? " " : "",
		 nr > 0 ? command->arg[0].name : "", nr > 1 ? " " : "",
		 nr > 1 ? command->arg[1].name : "");
	return text;
}

void work_usage(void)
{
	char text[64];
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		printf("  %-22s %s\n", usage_of(&commands[i], text, sizeof(text)),
		       commands[i].what);
}

static void obey_words(struct work *work, struct session *session, char **word, unsigned nr)
{
	const struct command *command = find_command(word[0]);
	uint64_t value[NR_ARGS] = { 0 };
	char text[QUOTED + 4];
	unsigned i;

	if (!command) {
		session_say(session, "error there is no command '%s': pmmd --help lists them",
			    plain(word[0], text));
		return;
	}
	if (nr != nr_args(command) + 1) {
		session_say(session, "error it is called so: %s",
			    usage_of(command, text, sizeof(text)));
		return;
	}
	for (i = 0; i + 1 < nr; i++) {
		const struct argument *arg = &command->arg[i];

		if (!parse_number(arg, word[i + 1], &value[i])) {
			session_say(session, "error %s is a number from %llu to %llu, not '%s'",
				    arg->name, (unsigned long long)arg->min,
				    (unsigned long long)arg->max, plain(word[i + 1], text));
			return;
		}
	}
	command->run(work, session, value);
}

void work_obey(struct work *work, struct session *session, char *line)
{
	/* one word more than any command has */
	char *word[NR_ARGS + 2], *rest, *at, text[QUOTED + 4];
	unsigned nr = 0;

	log_line("client %lu: %s", session->number, plain(line, text));
	for (at = strtok_r(line, " \t\r", &rest); at && nr < NR_ARGS + 2;
	     at = strtok_r(NULL, " \t\r", &rest))
		word[nr++] = at;
	if (nr)
		obey_words(work, session, word, nr);
	else
		session_say(session, "error that is no command: pmmd --help lists them");
}
