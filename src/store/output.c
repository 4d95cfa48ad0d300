/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and places of captures. */
#include "src/store/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/str.h"
#include "src/base/utf8.h"
#include "src/store/capture.h"

/*
 * As a part of a file's name: one that shells and people can take. At its beginning '-' would be an
 * option and '.' hide the file.
 */
static void add_comm(struct str *s, const char *comm)
{
	const char *slash = strrchr(str_text(s), '/');
	bool first = slash ? !slash[1] : !s->len;
	size_t n = strlen(comm), length;

	for (; n; comm += length, n -= length) {
		length = utf8_harmless_length(comm, n);
		if (!length || *comm == ' ' || *comm == '/' ||
		    (first && (*comm == '-' || *comm == '.')))
			str_addc(s, '_');
		else
			str_addn(s, comm, length);
		length = length ? length : 1;
		first = false;
	}
}

/* Put the mark and the number before the last ".pmm", or at the end. */
static void add_number(struct str *s, char mark, unsigned long number)
{
	bool suffix = str_ends(str_text(s), ".pmm");

	if (suffix)
		s->s[s->len -= strlen(".pmm")] = '\0';
	str_addf(s, "%c%lu%s", mark, number, suffix ? ".pmm" : "");
}

static int take_name(struct str *s, char name[PATH_MAX])
{
	int rc = str_error(s) ? -ENOMEM : s->len >= PATH_MAX ? -ENAMETOOLONG : 0;

	if (!rc)
		strcpy(name, str_text(s));
	str_fini(s);
	return rc;
}

int output_name(const char *pattern, pid_t pid, const char *comm, bool is_root, char name[PATH_MAX])
{
	struct str s = STR_INIT;
	bool has_pid = false;

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
		add_number(&s, '.', (unsigned long)pid);
	return take_name(&s, name);
}

/* The name of the next one, where `before` have it already. */
static int name_next(char name[PATH_MAX], unsigned before)
{
	struct str s = STR_INIT;

	if (!before)
		return 0;
	str_add(&s, name);
	if (!str_error(&s))
		add_number(&s, '-', before + 1ul);
	return take_name(&s, name);
}

/* Cut a path down to its directory; "." if it names none. */
static void keep_directory(char path[PATH_MAX])
{
	char *slash = strrchr(path, '/');

	if (!slash)
		strcpy(path, ".");
	else
		slash[slash == path] = '\0';
}

static int not_named(int rc, struct err *e)
{
	return err_set(e, rc, rc == -ENOMEM ? "out of memory" : "the capture's name is too long");
}

int output_check_pattern(const char *pattern, struct err *e)
{
	for (const char *p = pattern; (p = strchr(p, '%')) && p[1]; p += 2)
		if (!strchr("pc%", p[1])) {
			err_set(e, -EINVAL, "'%%%c' in the name '%s' is not known", p[1], pattern);
			err_hint(e, "%%p is the process number, %%c the command, %%%% a percent "
				    "sign");
			if (e)
				e->exit_code = 2;
			return -EINVAL;
		}
	return 0;
}

int output_check(const char *pattern, struct err *e)
{
	char name[PATH_MAX];
	const char *shown;
	struct stat st;
	int rc;

	if (!*pattern) {
		err_set(e, -EINVAL, "the capture's name is empty");
		err_hint(e, "name a file, such as %s", OUTPUT_DEFAULT);
		if (e)
			e->exit_code = 2;
		return -EINVAL;
	}
	rc = output_check_pattern(pattern, e);
	if (rc)
		return rc;
	rc = output_name(pattern, 999999999, "comm-16-bytes-xx", true, name);
	if (!rc && strlen(str_basename(name)) > NAME_MAX)
		rc = -ENAMETOOLONG;
	if (rc)
		return not_named(rc, e);
	if (!stat(name, &st) && S_ISDIR(st.st_mode)) {
		err_set(e, -EISDIR, "cannot write the capture '%s': it is a directory", name);
		err_hint(e, "name a file: -o %s/%s", name, OUTPUT_DEFAULT);
		return -EISDIR;
	}
	if (!stat(name, &st) && !S_ISREG(st.st_mode)) {
		err_set(e, -EINVAL, "cannot write the capture '%s': it is not a regular file",
			name);
		err_hint(e, "a capture replaces its file when complete; name a file");
		return -EINVAL;
	}
	keep_directory(name);
	if (!stat(name, &st) && !S_ISDIR(st.st_mode))
		errno = ENOTDIR;
	else if (!access(name, W_OK | X_OK))
		return 0;
	rc = -errno;
	shown = strrchr(pattern, '/');
	if (shown && memchr(pattern, '%', (size_t)(shown - pattern)))
		err_set(e, rc, "cannot write captures as '%s': %s", pattern, strerror(-rc));
	else
		err_set(e, rc, "cannot write captures into '%s': %s", name, strerror(-rc));
	err_hint(e, "choose another place with -o FILE");
	return rc;
}

static int write_to(const struct heap *h, const char *pattern, bool is_root, unsigned before,
		    char name[PATH_MAX], struct err *e)
{
	int rc = output_name(pattern, (pid_t)h->pid, h->comm, is_root, name);

	if (!rc)
		rc = name_next(name, before);
	if (rc)
		return not_named(rc, e);
	return capture_write(h, name, false, e);
}

int output_write(const struct heap *h, const char *pattern, bool is_root, unsigned before,
		 char name[PATH_MAX], bool *moved, struct err *e)
{
	const char *places[] = { getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm" };
	char elsewhere[PATH_MAX];
	int rc = write_to(h, pattern, is_root, before, name, e);

	*moved = false;
	for (unsigned i = 0; rc && i < sizeof(places) / sizeof(*places); i++) {
		if (!places[i] || !*places[i])
			continue;
		snprintf(elsewhere, sizeof(elsewhere), "%s/%s", places[i], OUTPUT_DEFAULT);
		if (write_to(h, elsewhere, is_root, before, name, NULL))
			continue;
		*moved = true;
		rc = 0;
	}
	return rc;
}
