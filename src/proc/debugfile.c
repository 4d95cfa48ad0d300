/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Separate debug files: by build id, by .gnu_debuglink, from debuginfod servers when asked for;
 * and.gnu_debugdata.
 *
 * Nothing is taken on trust: a file found by any way must have the build id asked for, or, where
 * the program has none, the checksum that its .gnu_debuglink gives.
 */
#include "src/proc/debugfile.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/str.h"

#define MINI_MAX_BYTES	(256u << 20)	/* of unpacked .gnu_debugdata */

static void add_hex(struct str *s, const uint8_t *id, size_t len)
{
	for (size_t i = 0; i < len; i++)
		str_addf(s, "%02x", id[i]);
}

/* It may have to be reported that less was seen than there is. */
static void heed(const struct debug_search *s, int rc)
{
	if (s->error && !*s->error && elf_file_unseen(rc))
		*s->error = rc;
}

static int open_path(const struct debug_search *s, const struct str *path, struct elf_file *out)
{
	int rc = str_error(path) ? -ENOMEM : elf_file_open(out, str_text(path));

	heed(s, rc);
	return rc;
}

/* Open `path` (its builder is emptied) if it has the build id. */
static int open_with_id(const struct debug_search *s, struct str *path, const uint8_t *id,
			size_t len, struct elf_file *out)
{
	int rc = open_path(s, path, out);

	str_clear(path);
	if (!rc && elf_file_has_build_id(out, id, len))
		return 0;
	elf_file_close(out);
	return -ENOENT;
}

/* The next of the ':'-separated directories in *dirs: its length, 0 = no more. */
static size_t next_dir(const char **dirs, const char **dir)
{
	size_t len;

	while (**dirs == ':')
		(*dirs)++;
	*dir = *dirs;
	len = strcspn(*dirs, ":");
	*dirs += len;
	return len;
}

int debug_file_by_id(const struct debug_search *s, const uint8_t *id, size_t len,
		     const char *suffix, struct elf_file *out)
{
	const char *dirs = s->dirs, *dir;
	struct str path = STR_INIT;
	int rc = -ENOENT;
	size_t n;

	if (len < 2)
		return -ENOENT;
	while (rc && (n = next_dir(&dirs, &dir))) {
		str_addn(&path, dir, n);
		str_add(&path, "/.build-id/");
		add_hex(&path, id, 1);
		str_addc(&path, '/');
		add_hex(&path, id + 1, len - 1);
		str_add(&path, suffix);
		rc = open_with_id(s, &path, id, len, out);
	}
	str_fini(&path);
	return rc;
}

/* Load the client library if it is there. It stays loaded: it may have threads. */
static void server_open(struct debug_server *d)
{
	void *lib = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL);
	void *(*begin)(void) = NULL;

	d->tried = true;
	if (!lib)
		return;
	*(void **)&begin = dlsym(lib, "debuginfod_begin");
	*(void **)&d->find = dlsym(lib, "debuginfod_find_debuginfo");
	*(void **)&d->end = dlsym(lib, "debuginfod_end");
	d->client = begin && d->find && d->end ? begin() : NULL;
}

void debug_server_fini(struct debug_server *d)
{
	if (d->client)
		d->end(d->client);
	*d = (struct debug_server){ 0 };
}

static int fetch(struct debug_server *d, const uint8_t *id, size_t len, struct elf_file *out)
{
	char *path = NULL;
	int fd;

	if (!d->tried)
		server_open(d);
	fd = d->client ? d->find(d->client, id, (int)len, &path) : -ENOSYS;
	if (fd < 0)
		return -ENOENT;
	if (elf_file_open_fd(out, fd, path ? path : "debuginfod"))
		fd = -1;
	free(path);
	if (fd >= 0 && elf_file_has_build_id(out, id, len))
		return 0;
	elf_file_close(out);
	return -ENOENT;
}

/*
 * The checksum of .gnu_debuglink: CRC-32 over the whole file. One that grows meanwhile has another.
 */
static bool has_crc(const struct debug_search *s, const struct elf_file *f, uint32_t want)
{
	uint8_t buf[4096];
	uint32_t crc = 0;
	uint64_t at = 0;

	if (f->size_bytes > DEBUG_LINK_MAX_BYTES ||
	    (s->link_bytes && *s->link_bytes + f->size_bytes > DEBUG_LINKS_MAX_BYTES))
		return false;
	if (s->link_bytes)
		*s->link_bytes += f->size_bytes;
	while (at < f->size_bytes && !stop_asked(&s->stop)) {
		ssize_t n = pread(f->fd, buf, sizeof(buf), (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			heed(s, -errno);
		if (n <= 0)
			return false;
		crc = lzma_crc32(buf, (size_t)n, crc);
		at += (uint64_t)n;
	}
	return at == f->size_bytes && crc == want;
}

static bool same_file(const struct elf_file *a, const struct elf_file *b)
{
	struct stat x, y;

	return !fstat(a->fd, &x) && !fstat(b->fd, &y) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* Open a candidate (its builder is emptied) for what .gnu_debuglink of `main` names. */
static int open_linked(const struct debug_search *s, struct str *path, const struct elf_file *main,
		       uint32_t crc, struct elf_file *out)
{
	int rc = open_path(s, path, out);

	str_clear(path);
	if (rc)
		return -ENOENT;
	if (!same_file(main, out) &&
	    (main->build_id_len && out->build_id_len
		     ? elf_file_has_build_id(out, main->build_id, main->build_id_len)
		     : has_crc(s, out, crc)))
		return 0;
	elf_file_close(out);
	return -ENOENT;
}

static int find_linked(const struct debug_search *s, const struct elf_file *main,
		       struct elf_file *out)
{
	const char *slash = strrchr(main->path, '/'), *dirs = s->dirs, *dir, *name;
	size_t home = slash ? (size_t)(slash - main->path) : 0, at, n;
	struct str path = STR_INIT;
	int rc = -ENOENT;
	Elf_Data *data;
	uint32_t crc;

	errno = 0;
	data = elf_file_small(main, ".gnu_debuglink", ELF_MAX_LINK_BYTES);
	heed(s, elf_file_trouble());
	if (!data || !data->d_buf || !slash)
		return -ENOENT;
	name = data->d_buf;
	n = strnlen(name, data->d_size);
	at = (n + 4) & ~(size_t)3;
	if (!n || memchr(name, '/', n) || at > data->d_size || data->d_size - at < sizeof(crc))
		return -ENOENT;
	memcpy(&crc, name + at, sizeof(crc));
	str_addn(&path, main->path, home);
	str_addf(&path, "/%s", name);
	rc = open_linked(s, &path, main, crc, out);
	if (rc) {
		str_addn(&path, main->path, home);
		str_addf(&path, "/.debug/%s", name);
		rc = open_linked(s, &path, main, crc, out);
	}
	while (rc && (n = next_dir(&dirs, &dir))) {
		str_addn(&path, dir, n);
		str_addn(&path, main->path, home);
		str_addf(&path, "/%s", name);
		rc = open_linked(s, &path, main, crc, out);
	}
	str_fini(&path);
	return rc;
}

int debug_file_find(const struct debug_search *s, const struct elf_file *main, const uint8_t *id,
		    size_t len, struct elf_file *out)
{
	if (!debug_file_by_id(s, id, len, ".debug", out))
		return 0;
	if (main && main->fd >= 0 && !find_linked(s, main, out))
		return 0;
	return len && s->server ? fetch(s->server, id, len, out) : -ENOENT;
}

int debug_file_alt(const struct debug_search *s, const struct elf_file *f, struct elf_file *out)
{
	GElf_Shdr header;
	Elf_Scn *scn;
	Elf_Data *data;
	const char *name, *slash = strrchr(f->path, '/');
	struct str path = STR_INIT;
	const uint8_t *id;
	size_t n, len;
	int rc;

	errno = 0;
	scn = elf_file_section(f, ".gnu_debugaltlink", SHT_PROGBITS, &header);
	data = elf_file_small(f, ".gnu_debugaltlink", ELF_MAX_LINK_BYTES);
	rc = elf_file_trouble();
	heed(s, rc);
	if (rc)
		return rc;
	if (!scn)
		return -ENODATA;
	name = data ? data->d_buf : NULL;
	n = name ? strnlen(name, data->d_size) : 0;
	if (!n || n + 1 >= data->d_size)
		return -ENOENT;
	id = (const uint8_t *)name + n + 1;
	len = data->d_size - n - 1;
	if (!debug_file_by_id(s, id, len, ".debug", out))
		return 0;
	if (*name != '/' && slash)
		str_addn(&path, f->path, (size_t)(slash - f->path) + 1);
	str_addn(&path, name, n);
	rc = open_with_id(s, &path, id, len, out);
	str_fini(&path);
	return rc && s->server ? fetch(s->server, id, len, out) : rc;
}

/*
 * Unpack into a buffer twice as large each time, up to the limit: the packed form does not tell the
 * size reliably.
 */
static void *unpack(const void *packed, size_t packed_size, size_t *size)
{
	for (size_t room = packed_size * 8 + 4096; room <= MINI_MAX_BYTES; room *= 2) {
		uint64_t memory_limit = 256u << 20;
		size_t in = 0;
		uint8_t *out = malloc(room);
		lzma_ret rc;

		if (!out)
			return NULL;
		*size = 0;
		rc = lzma_stream_buffer_decode(&memory_limit, 0, NULL, packed, &in, packed_size,
					       out, size, room);
		if (rc == LZMA_OK)
			return out;
		free(out);
		if (rc != LZMA_BUF_ERROR || in == packed_size)
			return NULL;
	}
	return NULL;
}

int debug_file_mini(const struct elf_file *f, struct elf_file *out)
{
	size_t size = 0;
	Elf_Data *data;
	void *image;
	int rc;

	errno = 0;
	data = elf_file_small(f, ".gnu_debugdata", ELF_MAX_MINI_BYTES);
	rc = elf_file_trouble();
	if (rc || !data || !data->d_buf)
		return rc ? rc : -ENODATA;
	image = unpack(data->d_buf, data->d_size, &size);
	rc = elf_file_trouble();
	if (!image)
		return rc ? rc : -EBADMSG;
	return elf_file_open_memory(out, image, size, f->path);
}
