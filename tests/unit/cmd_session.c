/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sessions at a command line, read and run.
 */
#include "tests/unit/cmd_session.h"

#include "tests/unit/unit.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_STEPS	200
#define SECONDS		150	/* only a hang takes that long, on the busiest machine */
#define GLOB		" (*)"

struct step {
	char *before;			/* comments, as they are in the file */
	char *command, *expected, *printed;
	int status, ended;
};

static struct step steps[MAX_STEPS];
static size_t nr_steps;
static char *after;			/* comments at the file's end */
static char path[PATH_MAX], directory[] = "/tmp/pmm-session.XXXXXX";

static void add(char **text, const char *more)
{
	size_t had = *text ? strlen(*text) : 0;

	*text = realloc(*text, had + strlen(more) + 1);
	assert_non_null(*text);
	strcpy(*text + had, more);
}

static void parse_line(const char *line)
{
	struct step *s = nr_steps ? &steps[nr_steps - 1] : NULL;

	if (!strncmp(line, "$ ", 2)) {
		assert_true(nr_steps < MAX_STEPS);
		s = &steps[nr_steps++];
		s->before = after;
		after = NULL;
		add(&s->command, line + 2);
		add(&s->expected, "");
	} else if (s && !strncmp(line, "> ", 2)) {
		add(&s->command, line + 2);
	} else if (s && !strncmp(line, "  ", 2)) {
		add(&s->expected, line + 2);
	} else if (s && line[0] == '[') {
		s->status = atoi(line + 1);
	} else {
		add(&after, line);
	}
}

static void parse(void)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;

	if (!f) {
		perror(path);
		exit(2);
	}
	while (getline(&line, &room, f) > 0)
		parse_line(line);
	free(line);
	fclose(f);
}

static void await_end(struct step *s, pid_t pid)
{
	for (unsigned ms = 0; waitpid(pid, &s->ended, WNOHANG) == 0; ms += 5) {
		if (ms >= SECONDS * 1000u)
			kill(-pid, SIGKILL);
		usleep(5000);
	}
	kill(-pid, SIGKILL);		/* what it has left behind */
	s->ended = WIFSIGNALED(s->ended) ? 128 + WTERMSIG(s->ended) : WEXITSTATUS(s->ended);
}

/* All of a file, to be freed. */
static char *contents(int fd)
{
	ssize_t n = lseek(fd, 0, SEEK_END);
	char *text = calloc(1, (size_t)n + 1);

	assert_non_null(text);
	assert_int_equal(pread(fd, text, (size_t)n, 0), n);
	return text;
}

/*
 * What is printed as the session wants to have it: through the script `words', if it has made one.
 */
static int in_words(int printed)
{
	int fd = memfd_create("words", 0);
	pid_t pid = fork();

	assert_true(fd >= 0);
	if (!pid) {
		lseek(printed, 0, SEEK_SET);
		dup2(printed, 0);
		dup2(fd, 1);
		if (!chdir(directory) && !access("words", F_OK))
			execl("/bin/sh", "sh", "words", (char *)NULL);
		execlp("cat", "cat", (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	close(printed);
	return fd;
}

/*
 * What the command prints goes to a file: its end is the end of the command, not of what is left of
 * it in the background.
 */
static void run(struct step *s)
{
	int fd = memfd_create("printed", MFD_CLOEXEC);
	pid_t pid;

	assert_true(fd >= 0);
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		dup2(fd, 1);
		dup2(fd, 2);
		close(0);
		if (open("/dev/null", O_RDONLY) || chdir(directory))
			_exit(126);
		execl("/bin/sh", "sh", "-c", s->command, (char *)NULL);
		_exit(127);
	}
	setpgid(pid, pid);
	await_end(s, pid);
	fd = in_words(fd);
	s->printed = contents(fd);
	close(fd);
}

/* Is a line, up to its end, as expected? */
static bool line_is(const char *expected, size_t n, const char *line, size_t m)
{
	char pattern[4096], text[4096];

	if (n == m && !memcmp(expected, line, n))
		return true;
	if (n < sizeof(GLOB) || n >= sizeof(pattern) || m >= sizeof(text) ||
	    memcmp(expected + n - sizeof(GLOB) + 1, GLOB, sizeof(GLOB) - 1))
		return false;
	snprintf(pattern, sizeof(pattern), "%.*s", (int)(n - sizeof(GLOB) + 1), expected);
	snprintf(text, sizeof(text), "%.*s", (int)m, line);
	return !fnmatch(pattern, text, 0);
}

static void clean(void)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	if (system(command))
		perror(command);
}

/* With SESSION_STOP the first failure is enough to know. */
static void differs(const struct step *s, const char *expected, size_t n, const char *printed,
		    size_t m)
{
	if (getenv("SESSION_STOP")) {
		clean();
		_exit(1);
	}
	fail_msg("%sexpected: %.*s\nprinted:  %.*s\nstatus %d, expected %d; all that was "
		 "printed:\n%s",
		 s->command, (int)n, expected, (int)m, printed, s->ended, s->status, s->printed);
}

static void step_test(void **state)
{
	struct step *s = *state;
	const char *a, *b;

	run(s);
	if (getenv("SESSION_UPDATE"))
		return;
	a = s->expected;
	b = s->printed;
	while (*a || *b || s->ended != s->status) {
		size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");

		if (!*a || !*b || !line_is(a, n, b, m))
			differs(s, a, n, b, m);
		a += n + (a[n] != 0);
		b += m + (b[m] != 0);
	}
}

static void put_lines(FILE *f, const char *text, const char *first, const char *rest)
{
	for (const char *p = text, *start = first; p && *p; start = rest) {
		size_t n = strcspn(p, "\n");

		fprintf(f, "%s%.*s\n", start, (int)n, p);
		p += n + (p[n] != 0);
	}
}

static void update(void)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return;
	for (size_t i = 0; i < nr_steps; i++) {
		struct step *s = &steps[i];

		fputs(s->before ? s->before : "", f);
		put_lines(f, s->command, "$ ", "> ");
		put_lines(f, s->printed, "  ", "  ");
		if (s->ended)
			fprintf(f, "[%d]\n", s->ended);
	}
	fputs(after ? after : "", f);
	fclose(f);
}

static void environment(void)
{
	char exe[PATH_MAX], text[3 * PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n < 0 || !mkdtemp(directory)) {
		perror("session");
		exit(2);
	}
	exe[n] = 0;
	for (int up = 0; up < 3; up++)			/* BUILD/tests/unit/test_X */
		*strrchr(exe, '/') = 0;
	setenv("BUILD", exe, 1);
	snprintf(text, sizeof(text), "%s/tests/prog", exe);
	setenv("PROG", text, 1);
	setenv("SOURCE", SOURCE_DIR, 1);
	snprintf(text, sizeof(text), "%s:%s/tests/fake:%s", exe, exe,
		 getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
	setenv("PATH", text, 1);
	setenv("HOME", directory, 1);
	setenv("TMPDIR", directory, 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("TZ", "UTC", 1);
	setenv("NO_COLOR", "1", 1);
	setenv("DEBUGINFOD_URLS", "", 1);
	unsetenv("XDG_CACHE_HOME");
	unsetenv("COLUMNS");
}

int session_run(const char *name)
{
	struct CMUnitTest *tests;
	int failed;

	snprintf(path, sizeof(path), "%s/tests/unit/sessions/%s.t", SOURCE_DIR, name);
	parse();
	environment();
	tests = calloc(nr_steps, sizeof(*tests));
	for (size_t i = 0; tests && i < nr_steps; i++) {
		char *title = strdup(steps[i].command);

		title[strcspn(title, "\n")] = 0;
		tests[i] = (struct CMUnitTest){ title, step_test, NULL, NULL, &steps[i] };
	}
	failed = _cmocka_run_group_tests(name, tests, nr_steps, NULL, NULL);
	if (getenv("SESSION_UPDATE"))
		update();
	clean();
	return failed;
}
