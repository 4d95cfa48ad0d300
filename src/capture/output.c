/* Names and places of captures. */
#include "src/capture/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/str.h"
#include "src/capture/capture.h"

static void add_comm(struct str *s, const char *comm)
{
	for (; *comm; comm++)
		str_addc(s, (unsigned char)*comm <= ' ' || *comm == '/' || *comm == 0x7f ? '_'
											 : *comm);
}

/* Put ".PID" before the last ".pmm", or at the end. */
static void add_pid(struct str *s, pid_t pid)
{
	bool suffix = str_ends(str_text(s), ".pmm");

	if (suffix)
		s->s[s->len -= strlen(".pmm")] = '\0';
	str_addf(s, ".%d%s", (int)pid, suffix ? ".pmm" : "");
}

int output_name(const char *pattern, pid_t pid, const char *comm, bool is_root, char name[PATH_MAX])
{
	struct str s = STR_INIT;
	bool has_pid = false;
	int rc = 0;

	for (const char *p = pattern; *p; p++) {
		if (p[0] != '%' || !p[1]) {
			str_addc(&s, *p);
			continue;
		}
		p++;
		if (*p == 'p')
			str_addf(&s, "%d", (int)pid);
		else if (*p == 'c')
			add_comm(&s, comm);
		else
			str_addf(&s, *p == '%' ? "%%" : "%%%c", *p);
		has_pid |= *p == 'p';
	}
	if (!has_pid && !is_root)
		add_pid(&s, pid);
	if (str_error(&s) || s.len >= PATH_MAX)
		rc = -ENAMETOOLONG;
	else
		strcpy(name, str_text(&s));
	str_fini(&s);
	return rc;
}

/* The directory part of a path; "." if it has none. */
static void directory_of(const char *path, char dir[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	size_t n = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;

	snprintf(dir, PATH_MAX, "%.*s", n ? (int)n : 1, n ? path : ".");
}

int output_check(const char *pattern, struct err *e)
{
	char name[PATH_MAX], dir[PATH_MAX];
	struct stat st;

	if (!*pattern) {
		err_set(e, -EINVAL, "the capture's name is empty");
		if (e)
			e->exit_code = 2;
		return -EINVAL;
	}
	if (output_name(pattern, 999999999, "comm-16-bytes-xx", true, name))
		return err_set(e, -ENAMETOOLONG, "the capture's name is too long");
	if (!stat(name, &st) && S_ISDIR(st.st_mode)) {
		err_set(e, -EISDIR, "cannot write the capture '%s': it is a directory", name);
		err_hint(e, "name a file: -o %s/%s", name, OUTPUT_DEFAULT);
		return -EISDIR;
	}
	directory_of(name, dir);
	if (!stat(dir, &st) && !S_ISDIR(st.st_mode))
		errno = ENOTDIR;
	else if (!access(dir, W_OK | X_OK))
		return 0;
	err_set(e, -errno, "cannot write captures into '%s': %s", dir, strerror(errno));
	err_hint(e, "choose another place with -o FILE");
	return -errno;
}

static int write_to(const struct heap *h, const char *pattern, bool is_root, char name[PATH_MAX],
		    struct err *e)
{
	int rc = output_name(pattern, (pid_t)h->pid, h->comm, is_root, name);

	if (rc)
		return err_set(e, rc, "the capture's name is too long");
	return capture_write(h, name, e);
}

int output_write(const struct heap *h, const char *pattern, bool is_root, char name[PATH_MAX],
		 bool *moved, struct err *e)
{
	const char *places[] = { getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm" };
	char elsewhere[PATH_MAX];
	int rc = write_to(h, pattern, is_root, name, e);

	*moved = false;
	for (unsigned i = 0; rc && i < sizeof(places) / sizeof(*places); i++) {
		if (!places[i] || !*places[i])
			continue;
		snprintf(elsewhere, sizeof(elsewhere), "%s/%s", places[i], OUTPUT_DEFAULT);
		if (write_to(h, elsewhere, is_root, name, NULL))
			continue;
		*moved = true;
		rc = 0;
	}
	return rc;
}
