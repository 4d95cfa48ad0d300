/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What kind of executable is it?
 *
 * Follows what execve(2) and ld.so(8) do: scripts are replaced by their interpreter, secure
 * execution (AT_SECURE) drops LD_PRELOAD, and only a dynamic loader named by PT_INTERP reads it at
 * all.
 */
#include "src/proc/elf_check.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "arch/elf_arch.h"
#include "src/base/str.h"

#define MAX_NESTED	5 /* scripts whose interpreter is a script (kernel: fs/exec.c) */
#define MAX_PHDRS	4096
#define MAX_DYNAMIC	4096
#define DYNAMIC_AT_ONCE	64
#define SCRIPT_LINE	256		/* BINPRM_BUF_SIZE */

struct image {				/* what matters of an ELF file */
	Elf64_Ehdr ehdr;
	bool has_interp, is_pie, bad;
	Elf64_Phdr dynamic;
	/* a part of the dynamic section: its first entry's number, how many were read */
	Elf64_Dyn part[DYNAMIC_AT_ONCE];
	uint64_t first;
	unsigned nr_part;
	char interp[PATH_MAX];
};

static int read_at(int fd, uint64_t off, void *to, size_t size)
{
	if (off > INT64_MAX)
		return -EIO;
	return pread(fd, to, size, (off_t)off) == (ssize_t)size ? 0 : -EIO;
}

/* The i-th entry of the dynamic section; false where it ends or cannot be read. */
static bool dynamic_at(struct image *im, int fd, uint64_t i, Elf64_Dyn *d)
{
	if (i >= im->dynamic.p_filesz / sizeof(*d) || i >= MAX_DYNAMIC)
		return false;
	if (i - im->first >= im->nr_part) {
		uint64_t off = im->dynamic.p_offset + i * sizeof(*d);
		ssize_t n = off > INT64_MAX ? -1
					    : pread(fd, im->part, sizeof(im->part), (off_t)off);

		im->first = i;
		im->nr_part = n < 0 ? 0 : (unsigned)n / sizeof(*d);
		if (!im->nr_part)
			return false;
	}
	*d = im->part[i - im->first];
	return d->d_tag != DT_NULL;
}

/*
 * DF_1_PIE distinguishes a position-independent program from a shared object (the dynamic loader
 * itself is one).
 */
static bool dynamic_is_pie(struct image *im, int fd)
{
	Elf64_Dyn d;

	for (uint64_t i = 0; dynamic_at(im, fd, i, &d); i++)
		if (d.d_tag == DT_FLAGS_1)
			return d.d_un.d_val & DF_1_PIE;
	return false;
}

static void image_read_phdr(struct image *im, int fd, const Elf64_Phdr *ph)
{
	if (ph->p_type == PT_DYNAMIC) {
		im->dynamic = *ph;
		im->nr_part = 0;
		im->is_pie = dynamic_is_pie(im, fd);
	}
	if (ph->p_type != PT_INTERP)
		return;
	im->has_interp = true;
	if (ph->p_filesz < 2 || ph->p_filesz > sizeof(im->interp) ||
	    read_at(fd, ph->p_offset, im->interp, ph->p_filesz) || im->interp[ph->p_filesz - 1])
		im->bad = true;
}

static void image_read(struct image *im, int fd)
{
	const Elf64_Ehdr *eh = &im->ehdr;

	if (eh->e_phentsize != sizeof(Elf64_Phdr) || !eh->e_phnum || eh->e_phnum > MAX_PHDRS ||
	    (eh->e_type != ET_EXEC && eh->e_type != ET_DYN))
		im->bad = true;
	for (unsigned i = 0; !im->bad && i < eh->e_phnum; i++) {
		Elf64_Phdr ph;

		if (read_at(fd, eh->e_phoff + i * sizeof(ph), &ph, sizeof(ph)))
			im->bad = true;
		else
			image_read_phdr(im, fd, &ph);
	}
}

/* File offset of a virtual address, 0 when no segment holds it. */
static uint64_t file_offset(const struct image *im, int fd, uint64_t address)
{
	for (unsigned i = 0; i < im->ehdr.e_phnum; i++) {
		Elf64_Phdr ph;

		if (!read_at(fd, im->ehdr.e_phoff + i * sizeof(ph), &ph, sizeof(ph)) &&
		    ph.p_type == PT_LOAD && address >= ph.p_vaddr &&
		    address - ph.p_vaddr < ph.p_filesz)
			return ph.p_offset + (address - ph.p_vaddr);
	}
	return 0;
}

/* The value of the n-th entry with this tag in the dynamic section; false when there are fewer. */
static bool dynamic_get(struct image *im, int fd, int64_t tag, unsigned n, uint64_t *value)
{
	Elf64_Dyn d;

	for (uint64_t i = 0; dynamic_at(im, fd, i, &d); i++)
		if (d.d_tag == tag && !n--) {
			*value = d.d_un.d_val;
			return true;
		}
	return false;
}

/* Is one of these among the libraries it needs? Beginnings of names, up to a NULL. */
static bool needs_one_of(struct image *im, int fd, const char *const *libraries)
{
	uint64_t strings, name, offset;

	if (!dynamic_get(im, fd, DT_STRTAB, 0, &strings) ||
	    !(offset = file_offset(im, fd, strings)))
		return false;
	for (unsigned n = 0; dynamic_get(im, fd, DT_NEEDED, n, &name); n++) {
		char text[32] = "";

		if (name >= INT64_MAX - offset ||
		    pread(fd, text, sizeof(text) - 1, (off_t)(offset + name)) <= 0)
			continue;
		for (unsigned i = 0; libraries[i]; i++)
			if (str_starts(text, libraries[i]))
				return true;
	}
	return false;
}

/* Sanitizers' runtimes that refuse to start behind a preloaded library. */
static bool needs_sanitizer(struct image *im, int fd)
{
	static const char *const libraries[] = {
		"libasan.",
		"libtsan.",
		"libhwasan.",
		"libclang_rt.asan",
		"libclang_rt.tsan",
		"libclang_rt.hwasan",
		NULL,
	};

	return needs_one_of(im, fd, libraries);
}

/* That one starts there. */
static bool needs_leak_sanitizer(struct image *im, int fd)
{
	static const char *const libraries[] = { "liblsan.", NULL };

	return needs_one_of(im, fd, libraries);
}

static bool is_wrong_arch(const unsigned char *id, const Elf64_Ehdr *eh)
{
	return id[EI_CLASS] != ELFCLASS64 || id[EI_DATA] != ELFDATA2LSB ||
	       eh->e_machine != ARCH_ELF_MACHINE;
}

/* Kind of an ELF file by its contents; its loader's path is left in `im` for the message. */
static enum elf_check_kind classify_image(struct image *im, int fd, const char *path)
{
	ssize_t n = pread(fd, &im->ehdr, sizeof(im->ehdr), 0);
	const unsigned char *id = im->ehdr.e_ident;

	if (n < SELFMAG || memcmp(id, ELFMAG, SELFMAG))
		return ELF_CHECK_NOT_ELF;
	if (n < (ssize_t)sizeof(Elf32_Ehdr))
		return ELF_CHECK_DAMAGED;
	if (is_wrong_arch(id, &im->ehdr))
		return ELF_CHECK_WRONG_ARCH;
	if (n < (ssize_t)sizeof(im->ehdr))
		return ELF_CHECK_DAMAGED;
	image_read(im, fd);
	if (im->bad)
		return ELF_CHECK_DAMAGED;
	if (im->has_interp && access(im->interp, F_OK))
		return ELF_CHECK_NO_LOADER;
	if (im->has_interp)
		return needs_sanitizer(im, fd) ? ELF_CHECK_SANITIZER : ELF_CHECK_OK;
	if (im->ehdr.e_type == ET_EXEC)
		return ELF_CHECK_STATIC;
	if (!im->is_pie &&
	    (str_starts(str_basename(path), "ld-") || str_starts(str_basename(path), "ld.so")))
		return ELF_CHECK_OK;	/* the dynamic loader run as a program reads LD_PRELOAD */
	return ELF_CHECK_STATIC_PIE;
}

/*
 * Would running the file give it other rights than the caller's, so that the loader drops
 * LD_PRELOAD?
 */
static enum elf_check_kind classify_rights(int fd, uid_t uid, gid_t gid)
{
	struct statvfs fs;
	struct stat st;

	if (fstat(fd, &st) || (!fstatvfs(fd, &fs) && (fs.f_flag & ST_NOSUID)))
		return ELF_CHECK_OK;
	if ((st.st_mode & S_ISUID) && st.st_uid != uid)
		return ELF_CHECK_SETUID;
	if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != gid)
		return ELF_CHECK_SETUID;
	if (uid != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return ELF_CHECK_CAPABILITIES;
	return ELF_CHECK_OK;
}

/* Is it a file that may be executed? Real ids, as faccessat() judges: pmm is not set-user-ID. */
static enum elf_check_kind classify_file(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno == EACCES ? ELF_CHECK_NOT_EXECUTABLE : ELF_CHECK_NOT_FOUND;
	if (S_ISDIR(st.st_mode))
		return ELF_CHECK_DIRECTORY;
	if (!S_ISREG(st.st_mode) || access(path, X_OK))
		return ELF_CHECK_NOT_EXECUTABLE;
	return ELF_CHECK_OK;
}

static bool is_elsewhere(enum elf_check_kind kind)
{
	return kind == ELF_CHECK_NOT_FOUND || kind == ELF_CHECK_DIRECTORY ||
	       kind == ELF_CHECK_NOT_EXECUTABLE;
}

/*
 * execvp(3): the first file in PATH that may be executed; one that may not is remembered for the
 * message.
 */
static enum elf_check_kind search_path(const char *name, char found[PATH_MAX])
{
	const char *dirs = getenv("PATH") ? getenv("PATH") : "/bin:/usr/bin";
	enum elf_check_kind kind = ELF_CHECK_NOT_FOUND;

	for (const char *d = dirs; d; d = strchr(d, ':') ? strchr(d, ':') + 1 : NULL) {
		int len = (int)strcspn(d, ":");
		char *path;
		enum elf_check_kind k;
		int n = asprintf(&path, "%.*s%s%s", len, d, len ? "/" : "", name);

		if (n < 0)
			continue;
		k = n < PATH_MAX ? classify_file(path) : ELF_CHECK_NOT_FOUND;
		if (k != ELF_CHECK_NOT_FOUND && !(is_elsewhere(k) && kind != ELF_CHECK_NOT_FOUND)) {
			kind = k;
			memcpy(found, path, (size_t)n + 1);
		}
		free(path);
		if (k == ELF_CHECK_OK)
			break;
	}
	return kind;
}

static enum elf_check_kind locate(const char *name, char found[PATH_MAX])
{
	found[0] = '\0';
	if (!*name)
		return ELF_CHECK_NOT_FOUND;
	if (!strchr(name, '/'))
		return search_path(name, found);
	if (strlen(name) >= PATH_MAX)
		return ELF_CHECK_NOT_FOUND;
	strcpy(found, name);
	return classify_file(name);
}

/* The interpreter of a script's first line "#! /path [argument]". false: not a script. */
static bool script_interpreter(int fd, char interp[PATH_MAX])
{
	char line[SCRIPT_LINE + 1] = "";
	ssize_t n = pread(fd, line, SCRIPT_LINE, 0);
	char *p = line + 2;

	if (n < 2 || line[0] != '#' || line[1] != '!')
		return false;
	p[strcspn(p, "\n")] = '\0';
	p += strspn(p, " \t");
	p[strcspn(p, " \t\r")] = '\0';
	strcpy(interp, p);
	return true;
}

/* Follow `c->program` through scripts to the ELF file and judge that. */
static enum elf_check_kind follow(struct elf_check *c, struct image *im, uid_t uid, gid_t gid)
{
	for (unsigned depth = 0; depth <= MAX_NESTED; depth++) {
		enum elf_check_kind kind;
		int fd = open(c->program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		if (fd < 0)
			return ELF_CHECK_UNREADABLE;
		if (!script_interpreter(fd, c->program)) {
			kind = classify_image(im, fd, c->program);
			if (kind == ELF_CHECK_OK)
				kind = classify_rights(fd, uid, gid);
			c->leak_sanitizer = kind == ELF_CHECK_OK && needs_leak_sanitizer(im, fd);
			close(fd);
			return kind;
		}
		close(fd);
		c->script = true;
		if (!c->program[0] || classify_file(c->program) != ELF_CHECK_OK)
			return ELF_CHECK_BAD_SCRIPT;
	}
	return ELF_CHECK_BAD_SCRIPT;
}

#define ATTACH_HINT \
	"a static program has no loader that could bring pmm in; start it and use 'pmm attach "   \
	"PID', which finds its malloc by the symbol table"
#define SECURE_HINT \
	"the loader ignores preloaded libraries there; copy the program without these rights, " \
	"or run pmm as the user it switches to"

static const struct message {
	const char *before, *after;	/* the program's name is between them, in quotes */
	const char *hint;
} messages[ELF_CHECK_NR] = {
	[ELF_CHECK_NOT_FOUND] = { "cannot find the program ", "",
				  "check the spelling and PATH, or give its path" },
	[ELF_CHECK_DIRECTORY] = { "", " is a directory", "name the program inside it" },
	[ELF_CHECK_NOT_EXECUTABLE] = { "", " may not be executed",
				       "give it execute permission (chmod +x), or name its "
				       "interpreter before it" },
	[ELF_CHECK_UNREADABLE] = { "", " may be executed but not read",
				   "give read permission, so that pmm can see what kind of program "
				   "it is" },
	[ELF_CHECK_NOT_ELF] = { "", " is neither an ELF program nor a script with a '#!' line",
				"name its interpreter before it, for example: pmm run -- sh FILE" },
	[ELF_CHECK_DAMAGED] = { "", " is a damaged ELF file, or not a program",
				"see 'readelf -lW'" },
	[ELF_CHECK_WRONG_ARCH] = { "", " is built for another processor or for 32 bits",
				   "this pmm watches 64-bit " ARCH_NAME " programs" },
	[ELF_CHECK_STATIC] = { "", " is statically linked: preload cannot work", ATTACH_HINT },
	[ELF_CHECK_STATIC_PIE] = { "", " is statically linked (static-pie): preload cannot work",
				   ATTACH_HINT },
	[ELF_CHECK_NO_LOADER] = { "", " needs a dynamic loader that does not exist here",
				  "install the C library it was built for; 'readelf -lW' shows the "
				  "loader's name" },
	[ELF_CHECK_SETUID] = { "", " is set-user-ID or set-group-ID: preload is ignored",
			       SECURE_HINT },
	[ELF_CHECK_CAPABILITIES] = { "", " has file capabilities: preload is ignored",
				     SECURE_HINT },
	[ELF_CHECK_SANITIZER] = { "",
				  " is built with a sanitizer, which brings its own malloc and "
				  "must come first",
				  "build it without -fsanitize; with -fsanitize=address it reports "
				  "leaks and heap errors itself" },
	[ELF_CHECK_BAD_SCRIPT] = { "the interpreter of the script ", " cannot be run",
				   "correct the '#!' line; what it names must exist and be "
				   "executable" },
};

static void explain(const struct elf_check *c, const char *name, struct err *e)
{
	const struct message *m = &messages[c->kind];
	const char *subject = c->path[0] ? c->path : name;

	if (c->script && c->kind != ELF_CHECK_BAD_SCRIPT)
		subject = c->program;
	err_set(e, -ENOEXEC, "%s'%.300s'%s", m->before, subject, m->after);
	err_hint(e, "%s", m->hint);
}

enum elf_check_kind elf_check_as(const char *name, uid_t uid, gid_t gid, struct elf_check *c,
				 struct err *e)
{
	struct image im = { 0 };

	*c = (struct elf_check){ 0 };
	c->kind = locate(name, c->path);
	if (c->kind == ELF_CHECK_OK) {
		memcpy(c->program, c->path, sizeof(c->program));
		c->kind = follow(c, &im, uid, gid);
	}
	if (c->kind != ELF_CHECK_OK)
		explain(c, name, e);
	return c->kind;
}

enum elf_check_kind elf_check(const char *name, struct elf_check *c, struct err *e)
{
	return elf_check_as(name, getuid(), getgid(), c, e);
}

int elf_check_leak_sanitizer(const struct elf_check *c, struct err *e)
{
	if (!c->leak_sanitizer)
		return 0;
	err_set(e, -ENOEXEC,
		"'%.300s' is built with LeakSanitizer, which finds no leaks where its malloc is not "
		"the one that is called",
		c->script ? c->program : c->path);
	err_hint(e, "build it without -fsanitize=leak, for 'pmm leaks' too; 'pmm run' leaves "
		    "LeakSanitizer at work");
	return -ENOEXEC;
}
