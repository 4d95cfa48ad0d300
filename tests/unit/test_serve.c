/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit tests of src/track/serve.c and message.c: who says the cookie is heard, and nobody else can
 * do anything about that.
 * Also of serve_open.c.
 */
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/ledger/preload.h"
#include "src/track/serve.h"
#include "tests/unit/fake_agent.h"

#define MIB    (1ull << 20)
#define SECOND 1000000000ull

struct fixture {
	struct ledger_tree board;
	struct serve serve;
	struct fake_env env;
	struct loop *loop;
	unsigned nr_taken, nr_lost;
	struct pmm_message last;
	pid_t from;
	bool with_fd, with_pidfd;
};

static void on_take(void *arg, const struct pmm_message *m, const struct message_peer *from,
		    int socket, int fd)
{
	struct fixture *f = arg;

	f->nr_taken++;
	f->last = *m;
	f->from = from->pid;
	f->with_fd = fd >= 0;
	f->with_pidfd = from->pidfd >= 0;
	if (m->what == PMM_SAY_BOARD)
		message_answer(socket, 5, f->serve.board_fd);
	if (fd >= 0)
		close(fd);
}

static void on_lost(void *arg)
{
	((struct fixture *)arg)->nr_lost++;
}

static void on_wake(void *arg, uint32_t events)
{
	(void)arg, (void)events;
}

static int setup(void **state)
{
	const struct ledger_tree_options o = { .limit_bytes = MIB,
					       .space_bytes = UINT64_MAX,
					       .file_bytes = UINT64_MAX };
	struct fixture *f = calloc(1, sizeof(*f));
	char value[PRELOAD_VALUE_BYTES];

	*state = f;
	if (loop_new(&f->loop) || ledger_tree_init(&f->board, &o, NULL) ||
	    serve_open(&f->serve, &f->board, NULL) ||
	    serve_join(&f->serve, f->loop, on_wake, f))
		return -1;
	f->serve.received = on_take;
	f->serve.lost = on_lost;
	f->serve.arg = f;
	preload_value(&f->board, f->serve.path_fd, f->serve.address, value);
	return fake_env_parse(&f->env, value);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	serve_close(&f->serve);
	ledger_tree_fini(&f->board);
	loop_free(f->loop);
	free(f);
	return 0;
}

static struct pmm_message ours(const struct fixture *f, enum pmm_say what)
{
	return (struct pmm_message){ .cookie = f->env.cookie,
				     .version = PMM_MESSAGE_VERSION,
				     .what = what };
}

/* Has the other side ended the connection, with no answer? */
static bool is_ended(int socket)
{
	char byte;
	ssize_t n = recv(socket, &byte, 1, MSG_DONTWAIT);

	return n == 0 || (n < 0 && errno == ECONNRESET);
}

/* The same soon: with descriptors under way a thread does it. */
static bool ends(int socket)
{
	for (unsigned i = 0; i < 30000 && !is_ended(socket); i++)
		usleep(1000);
	return is_ended(socket);
}

/* One connection with these bytes on each of the sockets: was it taken? It is ended in any case. */
static bool is_taken(struct fixture *f, const struct pmm_message *m, size_t bytes, int fd)
{
	unsigned before = f->nr_taken;

	for (int is_public = 0; is_public < 2; is_public++) {
		int socket = fake_connect(&f->env, is_public);

		assert_true(socket >= 0);
		assert_int_equal(fake_send(socket, m, bytes, fd), 0);
		serve_turn(&f->serve, 0);
		assert_true(ends(socket));
		close(socket);
	}
	assert_true(f->nr_taken == before || f->nr_taken == before + 2);
	return f->nr_taken > before;
}

static void only_the_cookie_counts(void **state)
{
	struct fixture *f = *state;
	struct pmm_message m = ours(f, PMM_SAY_LOST);

	m.number = -7;
	assert_true(is_taken(f, &m, sizeof(m), -1));
	assert_memory_equal(&f->last, &m, sizeof(m));
	assert_int_equal(f->from, getpid());
	assert_true(f->with_pidfd);
	assert_false(f->with_fd);
	m.cookie ^= 1;
	assert_false(is_taken(f, &m, sizeof(m), -1));
	m = ours(f, PMM_SAY_LOST);
	m.version++;
	assert_false(is_taken(f, &m, sizeof(m), -1));
	m = ours(f, PMM_SAY_NOTHING);
	assert_false(is_taken(f, &m, sizeof(m), -1));
	m = ours(f, PMM_NR_SAYS);
	assert_false(is_taken(f, &m, sizeof(m), -1));
	m = ours(f, PMM_SAY_LOST);
	assert_false(is_taken(f, &m, sizeof(m) - 1, -1));
	assert_int_equal(f->nr_lost, 0);
}

/* A descriptor comes with one message alone; without one, that is as good as lost. */
static void descriptors_are_taken_where_they_belong(void **state)
{
	struct fixture *f = *state;
	struct pmm_message m = ours(f, PMM_SAY_HERE);
	int fd = memfd_create("any", MFD_CLOEXEC);

	assert_true(is_taken(f, &m, sizeof(m), fd));
	assert_true(f->with_fd);
	assert_false(is_taken(f, &m, sizeof(m), -1));
	assert_int_equal(f->nr_lost, 2);
	m = ours(f, PMM_SAY_LEAVE);
	assert_true(is_taken(f, &m, sizeof(m), fd));
	assert_false(f->with_fd);
	close(fd);
}

static void answer_comes_with_the_board(void **state)
{
	struct fixture *f = *state;
	struct pmm_message m = ours(f, PMM_SAY_BOARD);
	struct pmm_tree seen;
	int socket = fake_connect(&f->env, 1), fd;

	assert_int_equal(fake_send(socket, &m, sizeof(m), -1), 0);
	serve_turn(&f->serve, 0);
	assert_int_equal(fake_answer(socket, &fd), 5);
	assert_int_equal(pread(fd, &seen, sizeof(seen), 0), sizeof(seen));
	assert_true(seen.cookie == f->env.cookie);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	close(fd);
	close(socket);
}

/* The private socket has no name, and the way through /proc is closed for other users. */
static void private_socket_is_private(void **state)
{
	struct fixture *f = *state;
	int status;
	pid_t pid;

	assert_true(f->serve.path_fd >= 0);
	if (geteuid())
		skip(); /* changing user needs root */
	pid = fork();
	if (!pid) {
		if (setgid(65534) || setuid(65534))
			_exit(9);
		_exit(fake_connect(&f->env, 1) < 0 ? 1 : fake_connect(&f->env, 0) >= 0 ? 2 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static bool is_heard(struct fixture *f, int is_public, uint64_t now_ns)
{
	unsigned before = f->nr_taken;

	assert_int_equal(fake_say(&f->env, is_public, (struct pmm_message){ .what = PMM_SAY_LOST },
				  -1, NULL),
			 0);
	for (unsigned i = 0; i < 100 && f->nr_taken == before; i++)
		serve_turn(&f->serve, now_ns + i * PMM_TICK_NS);
	return f->nr_taken > before;
}

/*
 * Connections that say nothing are kept for a second, and so many of them; one that says something
 * meanwhile is heard.
 */
static void silent_ones_are_dropped(void **state)
{
	struct fixture *f = *state;
	struct pmm_message m = ours(f, PMM_SAY_LOST);
	int sockets[SERVE_MOST_SILENT + 3];

	for (unsigned i = 0; i < NR(sockets); i++) {
		sockets[i] = fake_connect(&f->env, 0);
		assert_true(sockets[i] >= 0);
		serve_turn(&f->serve, 1 + i);
	}
	assert_int_equal(f->serve.of[0].nr_silent, SERVE_MOST_SILENT);
	assert_true(serve_is_due(&f->serve));
	for (unsigned i = 0; i < NR(sockets); i++)
		assert_int_equal(is_ended(sockets[i]), i < 3);
	assert_int_equal(fake_send(sockets[10], &m, sizeof(m), -1), 0);
	serve_turn(&f->serve, SECOND);
	assert_int_equal(f->nr_taken, 1);
	assert_int_equal(f->serve.of[0].nr_silent, SERVE_MOST_SILENT - 1);
	assert_true(is_heard(f, 0, SECOND / 2));
	serve_turn(&f->serve, 2 * SECOND);
	assert_int_equal(f->serve.of[0].nr_silent, 0);
	assert_false(serve_is_due(&f->serve));
	for (unsigned i = 0; i < NR(sockets); i++) {
		assert_true(is_ended(sockets[i]));
		close(sockets[i]);
	}
}

/* Does nothing but connect. */
static void flood(const struct fixture *f)
{
	alarm(100); /* not left over when the test dies */
	for (;;)
		close(fake_connect(&f->env, 1));
}

/*
 * Strangers who do nothing but connect cost a bounded number of looks a tick, and keep nobody from
 * being heard.
 */
static void flood_keeps_nobody_away(void **state)
{
	struct fixture *f = *state;
	uint64_t now_ns = SECOND;
	pid_t pid = fork();

	if (!pid)
		flood(f);
	for (unsigned i = 0; i < 60000 && !f->serve.of[1].paused; i++) {
		usleep(1000);
		serve_turn(&f->serve, now_ns);
	}
	assert_true(f->serve.of[1].paused);
	assert_true(f->serve.of[1].nr_silent <= SERVE_MOST_SILENT);
	serve_turn(&f->serve, now_ns + PMM_TICK_NS - 1);
	assert_true(f->serve.of[1].paused);
	for (unsigned i = 0; i < 20; i++) {
		now_ns += SECOND;
		assert_true(is_heard(f, 0, now_ns));
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	serve_drain(&f->serve, now_ns + 9 * SECOND);
	serve_turn(&f->serve, now_ns + 10 * SECOND);
	assert_true(is_heard(f, 1, now_ns + 11 * SECOND));
	assert_false(f->serve.of[1].paused);
}

/* All that came is heard, in one go. */
static void drain_hears_all(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(fake_say(&f->env, i % 2,
					  (struct pmm_message){ .what = PMM_SAY_LOST }, -1, NULL),
				 0);
	serve_drain(&f->serve, 0);
	assert_int_equal(f->nr_taken, 1000);
}

/* Descriptors that are taken, and how many there may be when they are given back. */
struct taken {
	struct rlimit old;
	int fds[64];
	unsigned nr;
};

/* From here on there are few beyond this one. */
static void few_descriptors(struct taken *t, int fd)
{
	struct rlimit few;

	getrlimit(RLIMIT_NOFILE, &t->old);
	few = (struct rlimit){ (rlim_t)fd + 20, t->old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	t->nr = 0;
}

/* All that there are, by copies of this one. */
static void take_descriptors(struct taken *t, int fd)
{
	while (t->nr < NR(t->fds) && (t->fds[t->nr] = dup(fd)) >= 0)
		t->nr++;
}

static void descriptors_again(struct taken *t)
{
	while (t->nr)
		close(t->fds[--t->nr]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &t->old), 0);
}

/*
 * With no descriptor left who hands in a ledger is lost and counted, and is not what wakes us all
 * the time; afterwards all is well again.
 */
static void no_descriptors_are_counted(void **state)
{
	struct fixture *f = *state;
	int socket = fake_connect(&f->env, 0), fd = memfd_create("any", MFD_CLOEXEC);
	struct pmm_message m = ours(f, PMM_SAY_HERE);
	struct epoll_event ev;
	struct taken taken;

	assert_int_equal(fake_send(socket, &m, sizeof(m), fd), 0);
	few_descriptors(&taken, fd);
	take_descriptors(&taken, fd);
	serve_turn(&f->serve, 0);
	assert_int_equal(f->nr_taken, 0);
	assert_int_equal(f->nr_lost, 1);
	assert_true(ends(socket));
	assert_int_equal(epoll_wait(loop_fd(f->loop), &ev, 1, 0), 0);
	descriptors_again(&taken);
	serve_turn(&f->serve, SECOND);
	assert_true(f->serve.spare_fd >= 0);
	close(socket);
	assert_true(is_taken(f, &m, sizeof(m), fd));
	close(fd);
}

/*
 * Who has connected but not spoken yet when descriptors run out is not turned away: what he says
 * then counts.
 */
static void no_descriptors_before_the_first_word(void **state)
{
	struct fixture *f = *state;
	int socket = fake_connect(&f->env, 0), fd = memfd_create("any", MFD_CLOEXEC);
	struct pmm_message m = ours(f, PMM_SAY_HERE);
	struct taken taken;

	few_descriptors(&taken, fd);
	take_descriptors(&taken, fd);
	serve_turn(&f->serve, 0);
	assert_int_equal(f->nr_lost, 0);
	assert_false(is_ended(socket));
	assert_int_equal(fake_send(socket, &m, sizeof(m), fd), 0);
	serve_turn(&f->serve, PMM_TICK_NS);
	assert_int_equal(f->nr_taken, 0);
	assert_int_equal(f->nr_lost, 1);
	assert_true(ends(socket));
	descriptors_again(&taken);
	serve_turn(&f->serve, 2 * PMM_TICK_NS);
	assert_true(f->serve.spare_fd >= 0);
	close(socket);
	assert_true(is_taken(f, &m, sizeof(m), fd));
	close(fd);
}

/*
 * The last descriptors are not taken for what is handed in: there would be none to hear others by.
 */
static void last_descriptors_are_not_taken(void **state)
{
	struct fixture *f = *state;
	int socket = fake_connect(&f->env, 0), fd = memfd_create("any", MFD_CLOEXEC);
	struct pmm_message m = ours(f, PMM_SAY_HERE);
	struct taken taken;

	assert_int_equal(fake_send(socket, &m, sizeof(m), fd), 0);
	few_descriptors(&taken, fd);
	close(f->serve.spare_fd);
	f->serve.spare_fd = -1;
	take_descriptors(&taken, fd);
	/* one for the connection, one for the file */
	close(taken.fds[--taken.nr]);
	close(taken.fds[--taken.nr]);
	serve_drain(&f->serve, 0);
	assert_int_equal(f->nr_taken, 0);
	assert_int_equal(f->nr_lost, 1);
	assert_true(ends(socket));
	descriptors_again(&taken);
	close(socket);
	close(fd);
}

/* A network of our own, of which nobody has taken the local interface away. */
static void up(void)
{
	struct ifreq r = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd;

	if (unshare(CLONE_NEWNET))
		return;
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	ioctl(fd, SIOCSIFFLAGS, &r);
	close(fd);
}

/*
 * A socket whose close takes a minute: it lingers with data that nobody reads. Also the one that
 * the data is for.
 */
static int lingering(int *other)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct linger linger = { 1, 60 };
	socklen_t size = sizeof(sin);
	int l = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
	static char bytes[1 << 16];

	if (bind(l, (struct sockaddr *)&sin, sizeof(sin)) || listen(l, 1) ||
	    getsockname(l, (struct sockaddr *)&sin, &size) ||
	    connect(fd, (struct sockaddr *)&sin, sizeof(sin)))
		return -1;
	*other = accept(l, NULL, NULL);
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	close(l);
	return setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)) ? -1 : fd;
}

/* Whoever sends a file whose close takes time, with or without the cookie, delays nobody. */
static void files_that_are_slow_to_close_delay_nobody(void **state)
{
	struct fixture *f = *state;
	struct timespec start, end;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (unsigned i = 0; i < 3; i++) {
		struct pmm_message m = ours(f, i ? PMM_SAY_LEAVE : PMM_SAY_LOST);
		int other = -1, fd = lingering(&other), socket = fake_connect(&f->env, 1);

		if (fd < 0)
			skip(); /* no network, not even a local one */
		m.cookie ^= i == 1;
		if (i == 2)	/* behind a message that is clean */
			assert_int_equal(fake_send(socket, &m, sizeof(m), -1), 0);
		assert_int_equal(fake_send(socket, &m, sizeof(m), fd), 0);
		close(socket);
		close(fd);
		serve_turn(&f->serve, i * SECOND);
		assert_int_equal(f->serve.of[1].nr_odd, i + 1);
		close(other);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_true(end.tv_sec - start.tv_sec < 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_the_cookie_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(descriptors_are_taken_where_they_belong, setup,
						teardown),
		cmocka_unit_test_setup_teardown(answer_comes_with_the_board, setup, teardown),
		cmocka_unit_test_setup_teardown(private_socket_is_private, setup, teardown),
		cmocka_unit_test_setup_teardown(silent_ones_are_dropped, setup, teardown),
		cmocka_unit_test_setup_teardown(flood_keeps_nobody_away, setup, teardown),
		cmocka_unit_test_setup_teardown(drain_hears_all, setup, teardown),
		cmocka_unit_test_setup_teardown(no_descriptors_are_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(no_descriptors_before_the_first_word, setup,
						teardown),
		cmocka_unit_test_setup_teardown(last_descriptors_are_not_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(files_that_are_slow_to_close_delay_nobody, setup,
						teardown),
	};

	up();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
