/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of --report. */
#include "src/cmd/report/report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/str.h"
#include "src/cmd/cmd.h"
#include "src/cmd/whole.h"

static int name_check(const char *name, bool command, struct err *e)
{
	if (command && !strcmp(name, "-"))
		return cmd_refuse(e, "standard output is the program's: '--report -' cannot be "
				  "used",
				  "leave it out: the report goes to standard error; or name a file");
	for (const char *p = name; (p = strchr(p, '%')) && p[1]; p += 2)
		if (strchr("pc%", p[1]))
			return cmd_refuse(e,
					  "one report is written for all processes: '%p', '%c' and '%%' "
					  "have no meaning in its name",
					  "name a file without them");
	return 0;
}

int report_file_where(const char **report, const char *output, const char *source, struct err *e)
{
	if (*report && !**report)
		return cmd_refuse(e, "the name after '--report' is empty", "name a file");
	if (!source)
		return *report ? name_check(*report, true, e) : 0;
	if (output && *report)
		return cmd_refuse(e, "'--report' and '--output' name two files",
				  "leave out one of them");
	if (output && !*output)
		return cmd_refuse(e, "the name after '-o' is empty", "name a file");
	*report = output ? output : *report;
	if (*report && !strcmp(*report, "-"))
		*report = NULL;
	if (*report && name_check(*report, false, e))
		return -EINVAL;
	return *report ? report_file_apart(*report, source, e) : 0;
}

int report_file_apart(const char *name, const char *source, struct err *e)
{
	struct stat to, from;

	if (!source || stat(name, &to) || stat(source, &from) || to.st_dev != from.st_dev ||
	    to.st_ino != from.st_ino)
		return 0;
	err_set(e, -EINVAL, "'%s' is the capture itself", name);
	err_hint(e, "name another file with -o");
	e->exit_code = CMD_USAGE;
	return -EINVAL;
}

static int not_written(int rc, const char *path, struct err *e)
{
	err_set(e, rc, "cannot write to '%s': %s", path, strerror(-rc));
	err_hint(e, "name a file in a directory that you may write to");
	return rc;
}

/* Opened without waiting for a reader. */
static int open_direct(struct report_file *r, struct err *e)
{
	int fd = open(r->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

	if (fd < 0 && errno == ENXIO) {
		err_set(e, -ENXIO, "cannot write to '%s': no process reads it", r->path);
		err_hint(e, "start the reader of the pipe first, or name a file");
		return -ENXIO;
	}
	if (fd < 0)
		return not_written(-errno, r->path, e);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	r->direct = true;
	r->f = fdopen(fd, "w");
	if (r->f)
		return 0;
	close(fd);
	return err_set(e, -ENOMEM, "out of memory");
}

/* Or a program would run for a report that has no place. */
static int directory_check(const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/');
	struct str directory = STR_INIT;
	int rc = 0;

	str_addn(&directory, path, slash ? (size_t)(slash + 1 - path) : 0);
	if (!slash)
		str_addc(&directory, '.');
	if (str_error(&directory))
		rc = err_set(e, -ENOMEM, "out of memory");
	else if (access(str_text(&directory), W_OK | X_OK))
		rc = not_written(-errno, path, e);
	str_fini(&directory);
	return rc;
}

int report_file_begin(struct report_file *r, const char *path, struct err *e)
{
	struct stat st;
	int fd, rc;

	*r = (struct report_file){ .path = path };
	if (!stat(path, &st)) {
		if (S_ISDIR(st.st_mode))
			return not_written(-EISDIR, path, e);
		if (!S_ISREG(st.st_mode))
			return open_direct(r, e);
	}
	rc = directory_check(path, e);
	if (rc)
		return rc;
	fd = memfd_create("pmm-report", MFD_CLOEXEC);
	r->f = fd < 0 ? NULL : fdopen(fd, "w+");
	if (r->f)
		return 0;
	rc = err_set(e, -errno, "no room for a report: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return rc;
}

/* What replace_file() calls. */
static int copy(void *arg, FILE *to, struct err *e)
{
	struct report_file *r = arg;
	char room[4096];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fileno(r->f), room, sizeof(room), at)) > 0) {
		if (fwrite(room, 1, (size_t)n, to) < (size_t)n)
			return replace_failed(e, -errno, "report", r->path);
		at += n;
	}
	return n < 0 ? replace_failed(e, -errno, "report", r->path) : 0;
}

static int place(struct report_file *r, struct err *e)
{
	int fd, rc;

	if (!r->f || r->direct)
		return 0;
	if (fflush(r->f))
		return replace_failed(e, -errno, "report", r->path);
	rc = whole_write_report(r->path, copy, r, e);
	if (rc)
		return rc;
	fd = open(r->path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0 || dup3(fd, fileno(r->f), O_CLOEXEC) < 0)
		rc = replace_failed(e, -errno, "report", r->path);
	else
		r->direct = r->placed = true;
	if (fd >= 0)
		close(fd);
	return rc;
}

static void lose(struct report_file *r, int rc, const struct err *why)
{
	if (!r->verdict)
		return;
	r->lost = *why;
	if (rc == -ENOSPC || rc == -EDQUOT || rc == -EFBIG)
		err_hint(&r->lost, "make room there, or name a file elsewhere with --report");
}

int report_file_place(void *report_file, struct err *e)
{
	struct report_file *r = report_file;
	struct err why = { 0 };
	int rc = place(r, &why);

	if (rc)
		lose(r, rc, &why);
	if (rc && e)
		*e = r->verdict ? r->lost : why;
	return rc;
}

/* ---- what is reported while a program runs ---- */

/* The file took no more: what follows it is kept in memory. 0, or -errno. */
static int keep(struct report_file *r, int rc)
{
	int fd = memfd_create("pmm-report", MFD_CLOEXEC);
	struct err why = { 0 };

	if (fd < 0 || dup3(fd, fileno(r->f), O_CLOEXEC) < 0) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	close(fd);
	__fpurge(r->f);
	clearerr(r->f);
	r->direct = false;
	replace_failed(&why, rc, "report", r->path);
	lose(r, rc, &why);
	return 0;
}

static int append(struct report_file *r, const char *bytes, size_t n)
{
	return fwrite(bytes, 1, n, r->f) < n || fflush(r->f) ? -errno : 0;
}

static ssize_t stream_write(void *report_file, const char *bytes, size_t n)
{
	struct report_file *r = report_file;
	int rc;

	if (r->failed)
		return (ssize_t)n;
	rc = append(r, bytes, n);
	if (rc && r->placed && r->verdict && !*r->lost.text && !keep(r, rc))
		rc = append(r, bytes, n);
	if (!rc && !r->direct && !*r->lost.text) {
		rc = report_file_place(r, NULL);
		rc = *r->lost.text ? 0 : rc;
	}
	errno = -rc;
	return rc ? 0 : (ssize_t)n;	/* 0: glibc's streams take that for an error */
}

FILE *report_file_stream(struct report_file *r)
{
	const cookie_io_functions_t calls = { .write = stream_write };

	r->stream = fopencookie(r, "w", calls);
	return r->stream;
}

/* `rc`, or -errno with `e` when that was no error and not all could be written. */
static int close_file(FILE *f, const char *path, int rc, struct err *e)
{
	if (fclose(f) && rc >= 0)
		rc = err_set(e, -errno, "cannot write to '%s': %s", path, strerror(errno));
	return rc;
}

/* The verdict is not lost with its file. `rc`, or where that is 0 -errno with `e`. */
static int say_lost(struct report_file *r, int rc, struct err *e)
{
	char room[4096];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fileno(r->f), room, sizeof(room), at)) > 0) {
		fwrite(room, 1, (size_t)n, stderr);
		at += n;
	}
	if (rc > 0)
		cmd_fail(&r->lost);
	else if (!rc)
		*e = r->lost;
	return rc ? rc : -EIO;
}

int report_file_end(struct report_file *r, int rc, bool empty, struct err *e)
{
	if (!r->f)
		return rc;
	r->failed = rc < 0 && !r->direct && !*r->lost.text;
	if (r->stream && fclose(r->stream) && rc >= 0)
		rc = replace_failed(e, -errno, "report", r->path);
	if (!*r->lost.text && rc >= 0) {
		if (r->direct || empty || ftello(r->f) > 0) {
			int placed = report_file_place(r, e);

			rc = placed && !*r->lost.text ? placed : rc;
		} else {
			cmd_note("there is no report: '%s' is not written", r->path);
		}
	}
	if (*r->lost.text)
		rc = say_lost(r, rc, e);
	return close_file(r->f, r->path, rc, e);
}
