/* SPDX-License-Identifier: GPL-2.0-or-later */
/* src/cmd/attach_voice.c: what comes while a reader is waited for is written once, in order. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "src/cmd/attach_voice.h"
#include "src/document/event.h"
#include "src/session/attach/attach_session.h"

#define PAGE	4096
#define LONG	10000		/* takes several pieces */

static struct attach_voice voice;
static struct str got;
static int reader;
static unsigned waits;

static int say(const char *name, char c)
{
	struct event e = { 0 };
	char text[LONG + 1];
	int rc;

	memset(text, c, LONG);
	text[LONG] = '\0';
	event_text(&e, name, text);
	rc = session_event(&voice.emit.sink, &e);
	event_fini(&e);
	return rc;
}

static void read_page(void)
{
	char page[PAGE];
	ssize_t n = read(reader, page, sizeof(page));

	if (n > 0)
		str_addn(&got, page, (size_t)n);
}

/* In place of the session's own: the reader takes a page, and another event comes. */
bool attach_session_wait(struct attach_session *s, uint64_t ns)
{
	(void)s;
	(void)ns;
	if (++waits > 100)
		return false;
	read_page();
	if (waits == 1)
		assert_int_equal(say("second", 'b'), 0);
	return true;
}

void attach_session_end(struct attach_session *s, enum say_end why)
{
	(void)s;
	fail_msg("ended: %d", (int)why);
}

static void add_line(struct str *to, const char *name, char c)
{
	str_addf(to, "{\"%s\": \"", name);
	str_pad(to, c, LONG);
	str_add(to, "\"}\n");
}

static void comes_while_a_reader_is_waited_for(void **state)
{
	int out = dup(STDOUT_FILENO), ends[2];
	struct str wanted = STR_INIT;
	struct loop *loop;

	(void)state;
	fflush(stdout);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(fcntl(ends[1], F_SETPIPE_SZ, PAGE), PAGE);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	reader = ends[0];
	assert_int_equal(loop_new(&loop), 0);
	dup2(ends[1], STDOUT_FILENO);
	attach_voice_init(&voice, loop, true);
	voice.session = (struct attach_session *)&voice;	/* only its address is used */
	assert_int_equal(say("first", 'a'), 0);
	read_page();
	dup2(out, STDOUT_FILENO);
	add_line(&wanted, "first", 'a');
	add_line(&wanted, "second", 'b');
	assert_string_equal(str_text(&got), str_text(&wanted));
	attach_voice_fini(&voice);
	loop_free(loop);
	str_fini(&wanted);
	str_fini(&got);
	close(out);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_while_a_reader_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
