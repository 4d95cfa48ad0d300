// SPDX-License-Identifier: GPL-2.0-or-later
/* The configuration, by /proc/pmm/cfg and by PMM_SET_CONFIG: what it takes, and that an error changes nothing. */
#include "kmod_test.h"

static struct pmm_kmod_config now;

static struct pmm_kmod_config *get(int fd)
{
	now = config_of(0);
	IS(call(fd, PMM_GET_CONFIG, &now), 0);
	return &now;
}

static long put_bytes(const char *text, size_t bytes)
{
	int fd = open("/proc/pmm/cfg", O_WRONLY);
	long result;

	if (fd < 0)
		die("cfg");
	result = write(fd, text, bytes);
	result = result < 0 ? -errno : result;
	close(fd);
	return result;
}

static long put(const char *line)
{
	return put_bytes(line, strlen(line));
}

/* What reading it shows. */
static const char *shown(void)
{
	static char text[4096];
	int fd = open("/proc/pmm/cfg", O_RDONLY);
	ssize_t got = read(fd, text, sizeof(text) - 1);

	text[got > 0 ? got : 0] = 0;
	close(fd);
	return text;
}

/* Lines that are no commands, whatever one might take them for. */
static void bad_lines(void)
{
	static const char *const bad[] = {
		"", "\n", " ", "INTERVAL", "INTERVAL ", "INTERVAL\n", "INTERVAL 9", "INTERVAL 0",
		"INTERVAL -10", "INTERVAL +10", "INTERVAL 010", "INTERVAL 0x10", "INTERVAL 3600001",
		"INTERVAL 4294967306", "INTERVAL 18446744073709551626", "INTERVAL 10 ",
		"INTERVAL 10\n\n", "INTERVAL 10\r\n", "INTERVAL 10ms", "INTERVAL 10.5",
		"INTERVAL 10\nSCAN 0\n", "INTERVAL 10;SCAN 0", " INTERVAL 10", "interval 10",
		"INTERVALS 10", "INTERVA 10", "INTERVAL=10", "INTERVAL10", "INTERVAL\n10",
		"INTERVAL 1 0", "SCAN 2", "SCAN -1", "SCAN 00", "SCAN 01", "SCAN yes", "SCAN",
		"SCAN  ", "START_PID", "START_PID 0", "START_PID -1", "START_PID self",
		"START_PID 4294967297", "START_PID 2147483648", "STOP_PID 0", "STOP_PID x",
		"STOP_PID 1 2", "START 1", "CLEAR_PID 1", "INTERVAL\v10", "\xef\xbb\xbfSCAN 1",
		"INTERVAL                                                         10",
	};
	static const char zero[] = "INTERVAL 10\0", inside[] = "INTERVAL 1\0000";
	char before[4096], big[8192];

	strcpy(before, shown());
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		IS(put(bad[i]), -EINVAL);
		if (strcmp(before, shown()) != 0) {
			printf("'%s' has changed something\n", bad[i]);
			failures++;
		}
	}
	IS(put_bytes(zero, sizeof(zero)), -EINVAL);
	IS(put_bytes(inside, sizeof(inside)), -EINVAL);
	memset(big, ' ', sizeof(big));
	memcpy(big, "SCAN", 4);
	big[sizeof(big) - 1] = '0';
	IS(put_bytes(big, sizeof(big)), -EINVAL);
	IS(put_bytes(big, 65), -EINVAL);
	IS(put_bytes((char *)8, 10), -EFAULT);
	IS(put("START_PID 999999"), -ESRCH);
	IS(put("STOP_PID 999999"), -ESRCH);
	IS(put("STOP_PID 1"), -ESRCH);
	/* a kernel thread has no memory of its own */
	IS(put("START_PID 2"), -EINVAL);
	IS(strcmp(before, shown()), 0);
}

static void good_lines(void)
{
	int fd = device(0), child = sleeper();
	char line[64], long_line[65];

	IS(put("INTERVAL 10"), 11);
	IS(get(fd)->interval_ms, 10);
	IS(put("INTERVAL \t 3600000\n"), 19);
	IS(get(fd)->interval_ms, 3600000);
	IS(put("SCAN\t0\n"), 7);
	IS(get(fd)->scan, 0);
	IS(put("SCAN 1"), 6);
	IS(get(fd)->scan, 1);
	memset(long_line, ' ', 64);
	memcpy(long_line, "SCAN", 4);
	long_line[63] = '0';
	IS(put_bytes(long_line, 64), 64);
	IS(get(fd)->scan, 0);
	snprintf(line, sizeof(line), "START_PID %d\n", child);
	IS(put(line), strlen(line));
	IS(process_of(fd, child).pid, child);
	IS(process_of(fd, child).state, PMM_KMOD_RUNNING);
	/* again is no error, and changes nothing */
	IS(put(line), strlen(line));
	IS(list(fd, NULL, 0), 1);
	snprintf(line, sizeof(line), "STOP_PID %d", child);
	IS(put(line), strlen(line));
	IS(list(fd, NULL, 0), 0);
	IS(put(line), -ESRCH);
	end(child);
	close(fd);
}

static long set(int fd, const struct pmm_kmod_config *c)
{
	return call(fd, PMM_SET_CONFIG, c);
}

/* Each field at its limits. */
static void ranges(void)
{
	int fd = device(0);
	struct pmm_kmod_config before = *get(fd), c = before, nothing = config_of(0);
	const unsigned int each[] = { PMM_KMOD_SET_INTERVAL, PMM_KMOD_SET_SCAN,
				      PMM_KMOD_SET_ENTRIES,  PMM_KMOD_SET_ENTRIES,
				      PMM_KMOD_SET_ENTRIES,  PMM_KMOD_SET_KEEP };

	for (int i = 0; i < 6; i++) {
		for (int over = 0; over < 2; over++) {
			c = before;
			c.window = 0;
			c.set = each[i] | PMM_KMOD_SET_GROWTH;
			c.growth_bytes = 12345;
			if (i == 0)
				c.interval_ms = over ? 3600001 : 9;
			else if (i == 1)
				c.scan = over ? ~0u : 2;
			else if (i == 2)
				c.entries_per_process = over ? 16777217 : 0;
			else if (i == 3)
				c.entries_in_all = over ? 16777217 : 0;
			else if (i == 4)
				c.entries_in_all = over ? ~0ull : 1ull << 32;
			else
				c.keep_s = over ? ~0u : 30 * 86400 + 1;
			IS(set(fd, &c), -EINVAL);
			IS(memcmp(get(fd), &before, sizeof(before)), 0);
		}
	}
	c = nothing;
	IS(set(fd, &c), 0);
	c.set = 0x400;
	IS(set(fd, &c), -EINVAL);
	c.set = 0;
	c.window = 16;
	IS(set(fd, &c), -EINVAL);
	for (int i = 0; i < 4; i++) {
		c = nothing;
		c.reserved[i] = 1;
		IS(set(fd, &c), -EINVAL);
	}
	IS(memcmp(get(fd), &before, sizeof(before)), 0);
	/* all at once */
	c = config_of(PMM_KMOD_SET_ALL &
		      ~(PMM_KMOD_SET_START | PMM_KMOD_SET_STOP | PMM_KMOD_SET_CLEAR));
	c.interval_ms = 3600000;
	c.entries_per_process = 1;
	c.entries_in_all = 16777216;
	c.growth_bytes = ~0ull;
	c.resident_bytes = 1;
	c.logged_bytes = 2;
	c.keep_s = 30 * 86400;
	IS(set(fd, &c), 0);
	c.set = 0;
	c.window = before.window;
	IS(memcmp(get(fd), &c, sizeof(c)), 0);
	close(fd);
}

/* One process at a time; a bad number changes nothing else. */
static void pids(void)
{
	int fd = device(0), child = sleeper();
	struct pmm_kmod_config before = *get(fd), c = config_of(PMM_KMOD_SET_START);
	const int wrong[] = { 0, -1, -2147483647 - 1 };
	siginfo_t info;

	for (int i = 0; i < 3; i++) {
		IS(monitor(fd, PMM_KMOD_SET_START, wrong[i]), -EINVAL);
		IS(monitor(fd, PMM_KMOD_SET_STOP, wrong[i]), -EINVAL);
		IS(monitor(fd, PMM_KMOD_SET_CLEAR, wrong[i]), -EINVAL);
	}
	IS(monitor(fd, PMM_KMOD_SET_START, 2147483647), -ESRCH);
	IS(monitor(fd, PMM_KMOD_SET_STOP, child), -ESRCH);
	IS(monitor(fd, PMM_KMOD_SET_CLEAR, child), -ESRCH);
	c.set = PMM_KMOD_SET_START | PMM_KMOD_SET_SCAN;
	c.start_pid = 2147483647;
	c.scan = !before.scan;
	IS(set(fd, &c), -ESRCH);
	c.set = PMM_KMOD_SET_START | PMM_KMOD_SET_STOP;
	c.start_pid = c.stop_pid = child;
	IS(set(fd, &c), -EINVAL);
	IS(list(fd, NULL, 0), 0);
	IS(memcmp(get(fd), &before, sizeof(before)), 0);
	c.set = PMM_KMOD_SET_START | PMM_KMOD_SET_SCAN;
	IS(set(fd, &c), 0);
	IS(get(fd)->scan, !before.scan);
	IS(list(fd, NULL, 0), 1);
	IS(monitor(fd, PMM_KMOD_SET_CLEAR, child), 0);
	IS(monitor(fd, PMM_KMOD_SET_STOP, child), 0);
	/* ended, and not waited for */
	kill(child, SIGKILL);
	IS(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	IS(monitor(fd, PMM_KMOD_SET_START, child), -ESRCH);
	end(child);
	close(fd);
}

CASES({ "bad_lines", bad_lines }, { "good_lines", good_lines }, { "ranges", ranges },
      { "pids", pids })
