/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/track/message.c: a message and its descriptor taken from a connection, whatever else comes
 * with them; answers; ends.
 */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/track/message.h"

#define COOKIE	0x1234567890abcdefull

static int ours, theirs;

static int begin(void **state)
{
	int pair[2];

	(void)state;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return 1;
	ours = pair[0];
	theirs = pair[1];
	return 0;
}

static int end(void **state)
{
	(void)state;
	close(ours);
	close(theirs);
	return 0;
}

static struct pmm_message message(uint32_t what)
{
	return (struct pmm_message){ .cookie = COOKIE,
				     .version = PMM_MESSAGE_VERSION,
				     .what = what,
				     .new_image = 1,
				     .number = 7 };
}

/* Send so many bytes and so many descriptors of /dev/null. */
static void say(const struct pmm_message *m, size_t bytes, unsigned nr_fds)
{
	union {
		char bytes[CMSG_SPACE(8 * sizeof(int))];
		struct cmsghdr align;
	} control = { .bytes = { 0 } };
	struct iovec iov = { (void *)m, bytes };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fds[8];

	for (unsigned i = 0; i < nr_fds; i++)
		assert_true((fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0);
	if (nr_fds) {
		struct cmsghdr *c = &control.align;

		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(nr_fds * sizeof(int));
		*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
				       .cmsg_type = SCM_RIGHTS,
				       .cmsg_len = CMSG_LEN(nr_fds * sizeof(int)) };
		memcpy(CMSG_DATA(c), fds, nr_fds * sizeof(int));
	}
	assert_int_equal(sendmsg(theirs, &msg, 0), bytes);
	while (nr_fds)
		close(fds[--nr_fds]);
}

static unsigned nr_open(void)
{
	unsigned nr = 0;

	for (int fd = 0; fd < 200; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

static void a_message_and_its_descriptor(void **state)
{
	struct pmm_message m = message(PMM_SAY_HERE), got;
	unsigned before = nr_open();
	struct stat st;
	int fd = 5;

	(void)state;
	assert_int_equal(message_receive(ours, COOKIE, &got, &fd), MESSAGE_NOTHING);
	assert_int_equal(fd, -1);
	say(&m, sizeof(m), 1);
	assert_int_equal(message_receive(ours, COOKIE, &got, &fd), MESSAGE_WHOLE);
	assert_memory_equal(&got, &m, sizeof(m));
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	close(fd);
	assert_int_equal(nr_open(), before);
	/* it was taken */
	assert_int_equal(message_receive(ours, COOKIE, &got, &fd), MESSAGE_NOTHING);
}

static void one_descriptor_exactly(void **state)
{
	static const unsigned nr[] = { 0, 2, 8 };
	struct pmm_message m = message(PMM_SAY_HERE), got;
	unsigned before = nr_open();
	int fd = 5;

	(void)state;
	for (size_t i = 0; i < NR(nr); i++) {
		say(&m, sizeof(m), nr[i]);
		assert_int_equal(message_receive(ours, COOKIE, &got, &fd), MESSAGE_LOST);
		assert_int_equal(fd, -1);
		/* perhaps by a thread */
		for (unsigned ms = 0; ms < 20000 && nr_open() != before; ms++)
			usleep(1000);
		assert_int_equal(nr_open(), before);
	}
}

/* They are looked at and left where they are, with what they carry. */
static void others_carry_none(void **state)
{
	struct pmm_message m = message(PMM_SAY_LEAVE), got;
	unsigned before = nr_open();
	int fd = 5;

	(void)state;
	say(&m, sizeof(m), 1);
	assert_int_equal(message_receive(ours, COOKIE, &got, &fd), MESSAGE_WHOLE);
	assert_int_equal(fd, -1);
	assert_int_equal(got.what, PMM_SAY_LEAVE);
	assert_int_equal(got.number, 7);
	assert_int_equal(nr_open(), before);
}

static enum message_got got_of(struct pmm_message m, size_t bytes)
{
	struct pmm_message got[2];
	enum message_got how;
	int fd;

	say(&m, bytes, 0);
	how = message_receive(ours, COOKIE, got, &fd);
	assert_int_equal(fd, -1);
	recv(ours, got, sizeof(got), MSG_DONTWAIT);
	return how;
}

static void strangers_are_told_apart(void **state)
{
	struct pmm_message m[2] = { message(PMM_SAY_BOARD), message(PMM_SAY_BOARD) };
	int fd;

	(void)state;
	assert_int_equal(got_of(m[0], sizeof(*m)), MESSAGE_WHOLE);
	assert_int_equal(got_of(m[0], sizeof(*m) - 1), MESSAGE_STRANGER);
	m[0].cookie++;
	assert_int_equal(got_of(m[0], sizeof(*m)), MESSAGE_STRANGER);
	m[0] = message(PMM_SAY_BOARD);
	m[0].version++;
	assert_int_equal(got_of(m[0], sizeof(*m)), MESSAGE_STRANGER);
	assert_int_equal(got_of(message(PMM_SAY_NOTHING), sizeof(*m)), MESSAGE_STRANGER);
	assert_int_equal(got_of(message(PMM_NR_SAYS), sizeof(*m)), MESSAGE_STRANGER);
	assert_int_equal(got_of(message(PMM_NR_SAYS - 1), sizeof(*m)), MESSAGE_WHOLE);
	say(m, sizeof(m), 0);					/* longer than one */
	assert_int_equal(message_receive(ours, COOKIE, m, &fd), MESSAGE_STRANGER);
	recv(ours, m, sizeof(m), MSG_DONTWAIT);
	close(theirs);
	theirs = -1;
	/* the end */
	assert_int_equal(message_receive(ours, COOKIE, m, &fd), MESSAGE_STRANGER);
}

static void answers(void **state)
{
	union { char bytes[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } control;
	struct pmm_answer a = { 0, 0 };
	struct iovec iov = { &a, sizeof(a) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), fd;
	struct stat st;

	(void)state;
	message_answer(ours, -ESRCH, -1);
	assert_int_equal(recvmsg(theirs, &msg, MSG_DONTWAIT), sizeof(a));
	assert_int_equal(a.version, PMM_MESSAGE_VERSION);
	assert_int_equal(a.number, -ESRCH);
	assert_int_equal(msg.msg_controllen, 0);
	msg.msg_controllen = sizeof(control.bytes);
	message_answer(ours, 5, null);
	assert_int_equal(recvmsg(theirs, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC), sizeof(a));
	assert_int_equal(a.number, 5);
	assert_int_equal(msg.msg_controllen, CMSG_SPACE(sizeof(int)));
	assert_int_equal(control.align.cmsg_type, SCM_RIGHTS);
	memcpy(&fd, CMSG_DATA(&control.align), sizeof(fd));
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	close(fd);
	close(null);
	close(theirs);
	theirs = -1;
	message_answer(ours, 5, -1);				/* nobody is there: no signal */
}

static void who_has_connected(void **state)
{
	struct message_peer p;

	(void)state;
	message_peer(ours, &p);
	assert_int_equal(p.pid, getpid());
	assert_true(p.pidfd >= 0);
	assert_int_equal(fcntl(p.pidfd, F_GETFD), FD_CLOEXEC);
	close(p.pidfd);
	message_peer(-1, &p);
	assert_int_equal(p.pid, 0);
	assert_int_equal(p.pidfd, -1);
	assert_false(p.sure);
}

static void connections_end(void **state)
{
	struct pmm_message m = message(PMM_SAY_HERE);
	unsigned before;
	char c;

	(void)state;
	before = nr_open();
	assert_false(message_close(ours));			/* nothing is in it */
	assert_int_equal(nr_open(), before - 1);
	ours = -1;
	assert_int_equal(recv(theirs, &c, 1, MSG_DONTWAIT), 0);
	end(NULL);
	begin(NULL);
	say(&m, sizeof(m), 0);
	say(&m, sizeof(m), 0);
	assert_false(message_close(ours));
	ours = -1;
	end(NULL);
	begin(NULL);
	before = nr_open();
	say(&m, sizeof(m), 0);
	say(&m, sizeof(m), 1);
	/* a file that is slow to close delays nobody */
	assert_true(message_close(ours));
	for (unsigned ms = 0; ms < 20000 && nr_open() != before - 1; ms++)
		usleep(1000);
	assert_int_equal(nr_open(), before - 1);
	ours = -1;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(a_message_and_its_descriptor),
		TEST(one_descriptor_exactly),
		TEST(others_carry_none),
		TEST(strangers_are_told_apart),
		TEST(answers),
		TEST(who_has_connected),
		TEST(connections_end),
	};

	signal(SIGPIPE, SIG_DFL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
