/* SPDX-License-Identifier: GPL-2.0-or-later */ /* The directory that a daemon works in. */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

struct why {
	char *text;
	size_t room;
};

static bool __attribute__((__format__(__printf__, 2, 3)))
refuse(const struct why *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, why->room, format, args);
	va_end(args);
	return false;
}

bool place_init(struct place *place, const char *directory, char *text, size_t room)
{
	const struct why why = { text, room };
	char path[PATH_MAX];
	struct stat st;

	memset(place, 0, sizeof(*place));
	place->lock = place->listener = -1;
	if (!realpath(directory, path))
		return refuse(&why, "directory '%s' cannot be used: %s", directory,
			      strerror(errno));
	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return refuse(&why, "'%s' is no directory", directory);
	snprintf(place->pid.path, sizeof(place->pid.path), "%s/pmmd.pid", path);
	snprintf(place->socket.path, sizeof(place->socket.path), "%s/pmmd.sock", path);
	snprintf(place->log, sizeof(place->log), "%s/pmmd.log", path);
	if (strlen(place->socket.path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return refuse(&why,
			      "the name of directory '%s' is too long for that of a socket, which "
			      "has %zu characters at most",
			      directory, sizeof(((struct sockaddr_un *)0)->sun_path) - 1);
	return true;
}

static void note_file(struct place_file *file, const struct stat *st)
{
	file->dev = st->st_dev;
	file->ino = st->st_ino;
}

static bool is_file(const struct place_file *file)
{
	struct stat st;

	return file->ino && !lstat(file->path, &st) && st.st_dev == file->dev &&
	       st.st_ino == file->ino;
}

static void remove_file(struct place_file *file)
{
	if (is_file(file))
		unlink(file->path);
	file->ino = 0;
}

/* Who holds the lock, as the file says; 0: it does not. */
static long pid_in(int fd)
{
	char text[32];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = 0;
	return strtol(text, NULL, 10);
}

static bool write_pid(const struct place *place, const struct why *why)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%ld\n", (long)getpid());

	if (ftruncate(place->lock, 0) == 0 && pwrite(place->lock, text, (size_t)len, 0) == len)
		return true;
	return refuse(why, "'%s' cannot be written: %s", place->pid.path, strerror(errno));
}

/* Whoever has the lock has not always written yet who it is. */
static bool refuse_second(const struct place *place, const struct why *why)
{
	long pid = pid_in(place->lock);

	return pid > 0 ? refuse(why, "a pmmd runs in that directory already, process %ld", pid) :
		refuse(why, "a pmmd starts in that directory already");
}

/*
 * Another that ends may remove the file between our opening and our locking it: then it is opened
 * once more.
 */
static bool lock_pid(struct place *place, const struct why *why)
{
	struct stat st;

	for (;;) {
		place->lock = open(place->pid.path,
				   O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
		if (place->lock < 0)
			return refuse(why, "'%s' cannot be opened: %s", place->pid.path,
				      strerror(errno));
		if (fstat(place->lock, &st) < 0 || !S_ISREG(st.st_mode))
			return refuse(why, "'%s' is no plain file", place->pid.path);
		if (flock(place->lock, LOCK_EX | LOCK_NB) < 0)
			return errno == EWOULDBLOCK ? refuse_second(place, why)
						    : refuse(why, "'%s' cannot be locked: %s",
							     place->pid.path, strerror(errno));
		note_file(&place->pid, &st);
		if (is_file(&place->pid))
			return write_pid(place, why);
		close(place->lock);
	}
}

/* What a daemon that was killed has left is removed. Anything else that is there stays. */
static bool clear_socket(const struct place *place, const struct sockaddr_un *address,
			 const struct why *why)
{
	struct stat st;
	int fd, e = 0;

	if (lstat(address->sun_path, &st) < 0)
		return errno == ENOENT || refuse(why, "'%s' cannot be looked at: %s",
						 address->sun_path, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return refuse(why, "'%s' is in the way, and is no socket", address->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return refuse(why, "no socket can be made: %s", strerror(errno));
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		e = errno;
	close(fd);
	if (e != ECONNREFUSED)
		return refuse(why, "another daemon listens at '%s' already", place->socket.path);
	return unlink(address->sun_path) == 0 ||
	       refuse(why, "'%s' cannot be removed: %s", address->sun_path, strerror(errno));
}

static bool open_socket(struct place *place, const struct why *why)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat st;
	mode_t mask;
	int e;

	memcpy(address.sun_path, place->socket.path, strlen(place->socket.path) + 1);
	if (!clear_socket(place, &address, why))
		return false;
	place->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (place->listener < 0)
		return refuse(why, "no socket can be made: %s", strerror(errno));
	mask = umask(0177);	/* chmod() later would leave a moment */
	e = bind(place->listener, (const struct sockaddr *)&address, sizeof(address)) < 0 ? errno
											  : 0;
	umask(mask);
	if (e || lstat(address.sun_path, &st) < 0)
		return refuse(why, "'%s' cannot be made: %s", address.sun_path,
			      strerror(e ? e : errno));
	note_file(&place->socket, &st);
	return listen(place->listener, 64) == 0 ||
	       refuse(why, "nobody can listen at '%s': %s", address.sun_path, strerror(errno));
}

bool place_take(struct place *place, char *text, size_t room)
{
	const struct why why = { text, room };

	if (lock_pid(place, &why) && open_socket(place, &why))
		return true;
	place_leave(place);
	return false;
}

void place_leave(struct place *place)
{
	remove_file(&place->socket);
	remove_file(&place->pid);	/* before the lock is given up: nobody else's is removed */
	if (place->listener >= 0)
		close(place->listener);
	if (place->lock >= 0)
		close(place->lock);
	place->lock = place->listener = -1;
}
