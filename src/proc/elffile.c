/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file opened for reading: its identity, its build id and where its code is.
 *
 * Files are read, never mapped: another process may cut one short meanwhile, which is an error of a
 * read and a SIGBUS of a mapping, or change what has been checked. libelf reads a section when it
 * is asked for; elf_bounds.h says how much it may be made to read.
 */
#include "src/proc/elffile.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"

#define VDSO_MAX_BYTES	65536

static void read_segments(struct elf_file *f)
{
	uint64_t first = UINT64_MAX;
	size_t nr;

	if (elf_getphdrnum(f->elf, &nr))
		nr = 0;
	for (size_t i = 0; i < nr && i < 65536; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(f->elf, (int)i, &ph))
			break;
		if (ph.p_type != PT_LOAD)
			continue;
		if (ph.p_vaddr < first)
			first = ph.p_vaddr;
		if (!(ph.p_flags & PF_X) || f->nr_code == ELF_FILE_CODE_MAX ||
		    ph.p_vaddr + ph.p_memsz <= ph.p_vaddr)
			continue;
		f->code[f->nr_code].lo = ph.p_vaddr;
		f->code[f->nr_code++].hi = ph.p_vaddr + ph.p_memsz;
	}
	f->first_vaddr = first == UINT64_MAX ? 0 : first;
}

/*
 * Of what elf_begin() made of it; `rc`: what elf_bounds_read() says. 0 or -errno, and it is closed.
 */
static int read_identity(struct elf_file *f, int rc)
{
	const void *id;
	ssize_t len;

	if (rc || !f->elf || elf_kind(f->elf) != ELF_K_ELF) {
		int why = rc ? rc : elf_file_trouble();

		elf_file_close(f);
		return elf_file_unseen(why) ? why : -ENOEXEC;
	}
	len = dwelf_elf_gnu_build_id(f->elf, &id);
	if (len > 0 && len <= ELF_FILE_BUILD_ID_MAX) {
		memcpy(f->build_id, id, (size_t)len);
		f->build_id_len = (size_t)len;
	}
	read_segments(f);
	rc = elf_file_trouble();	/* then there may be a build id, and more code */
	if (rc)
		elf_file_close(f);
	return rc;
}

int elf_file_open_fd(struct elf_file *f, int fd, const char *path)
{
	struct stat st;
	int rc;

	*f = (struct elf_file){ .fd = fd, .path = strdup(path) };
	if (!f->path) {
		close(fd);		/* a file without a path is not open */
		return -ENOMEM;
	}
	if (fstat(fd, &st)) {
		rc = -errno;
		elf_file_close(f);
		return rc;
	}
	f->size_bytes = (uint64_t)st.st_size;
	f->mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	rc = S_ISREG(st.st_mode) ? elf_bounds_read(fd, NULL, f->size_bytes, &f->bounds) : -ENOEXEC;
	errno = 0;
	if (!rc) {
		elf_version(EV_CURRENT);
		f->elf = elf_begin(fd, ELF_C_READ, NULL);
	}
	return read_identity(f, rc);
}

int elf_file_open(struct elf_file *f, const char *path)
{
	struct stat st;
	int fd;

	*f = (struct elf_file){ .fd = -1 };
	if (stat(path, &st))	/* opening a device or a pipe could have effects */
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	return elf_file_open_fd(f, fd, path);
}

int elf_file_open_memory(struct elf_file *f, void *image, size_t size, const char *path)
{
	int rc;

	*f = (struct elf_file){
		.fd = -1, .path = strdup(path), .image = image, .size_bytes = size
	};
	if (!f->path) {
		elf_file_close(f);
		return -ENOMEM;
	}
	rc = elf_bounds_read(-1, image, size, &f->bounds);
	errno = 0;
	if (!rc) {
		elf_version(EV_CURRENT);
		f->elf = elf_memory(image, size);
	}
	return read_identity(f, rc);
}

int elf_file_open_vdso(struct elf_file *f)
{
	const Elf64_Ehdr *eh = (const void *)getauxval(AT_SYSINFO_EHDR);
	uint64_t size;
	void *image;

	if (!eh)
		return -ENOENT;
	size = eh->e_shoff + (uint64_t)eh->e_shnum * eh->e_shentsize;
	if (size > VDSO_MAX_BYTES)
		return -ENOENT;
	image = malloc(size);
	if (!image)
		return -ENOMEM;
	memcpy(image, eh, size);
	return elf_file_open_memory(f, image, size, "[vdso]");
}

void elf_file_close(struct elf_file *f)
{
	if (f->elf)
		elf_end(f->elf);
	if (f->path && f->fd >= 0)
		close(f->fd);
	free(f->path);
	free(f->image);
	*f = (struct elf_file){ .fd = -1 };
}

bool elf_file_has_build_id(const struct elf_file *f, const uint8_t *id, size_t len)
{
	return len && f->build_id_len == len && !memcmp(f->build_id, id, len);
}

bool elf_file_is_code(const struct elf_file *f, uint64_t address)
{
	for (int i = 0; i < f->nr_code; i++) {
		if (address >= f->code[i].lo && address < f->code[i].hi)
			return true;
	}
	return !f->nr_code;
}

Elf_Scn *elf_file_section(const struct elf_file *f, const char *name, unsigned type,
			  GElf_Shdr *header)
{
	size_t names;

	if (elf_getshdrstrndx(f->elf, &names))
		return NULL;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(f->elf, scn)); ) {
		const char *s;

		if (!gelf_getshdr(scn, header) || (type != SHT_NULL && header->sh_type != type))
			continue;
		if (!name)
			return scn;
		s = elf_strptr(f->elf, names, header->sh_name);
		if (s && !strcmp(s, name))
			return scn;
	}
	return NULL;
}

Elf_Data *elf_file_symbols(const struct elf_file *f, unsigned type, size_t *nr, size_t *strings)
{
	GElf_Shdr header;
	Elf_Scn *scn = elf_file_section(f, NULL, type, &header);
	Elf_Data *data = scn && header.sh_type != SHT_NOBITS ? elf_getdata(scn, NULL) : NULL;

	if (!data || !data->d_buf)
		return NULL;
	*nr = data->d_size / gelf_fsize(f->elf, ELF_T_SYM, 1, EV_CURRENT);
	if (*nr > INT_MAX)
		*nr = INT_MAX;
	*strings = header.sh_link;
	return data;
}

Elf_Data *elf_file_small(const struct elf_file *f, const char *name, uint64_t max_bytes)
{
	GElf_Shdr header;
	Elf_Scn *scn = elf_file_section(f, name, SHT_PROGBITS, &header);

	return scn && header.sh_size <= max_bytes ? elf_rawdata(scn, NULL) : NULL;
}

bool elf_file_has_dwarf(const struct elf_file *f)
{
	GElf_Shdr header;

	if (elf_file_section(f, ".debug_info", SHT_NULL, &header) && header.sh_type != SHT_NOBITS)
		return true;
	return elf_file_section(f, ".zdebug_info", SHT_NULL, &header) &&
	       header.sh_type != SHT_NOBITS;
}

int elf_file_trouble(void)
{
	int rc = -errno;

	errno = 0;
	return elf_file_unseen(rc) ? rc : 0;
}

bool elf_file_unseen(int rc)
{
	return err_is_want(rc) || rc == -EIO || rc == -EINTR;
}
