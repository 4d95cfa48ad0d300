/*
 * An ELF file opened for reading: its identity, its build id and where its code lies.
 */
#include "src/target/elffile.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
		if (!(ph.p_flags & PF_X) || f->nr_code == ELF_FILE_CODE_MAX || ph.p_vaddr + ph.p_memsz <= ph.p_vaddr)
			continue;
		f->code[f->nr_code].lo = ph.p_vaddr;
		f->code[f->nr_code++].hi = ph.p_vaddr + ph.p_memsz;
	}
	f->first_vaddr = first == UINT64_MAX ? 0 : first;
}

static int read_identity(struct elf_file *f)
{
	const void *id;
	ssize_t len;

	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF) {
		elf_file_close(f);
		return -ENOEXEC;
	}
	len = dwelf_elf_gnu_build_id(f->elf, &id);
	if (len > 0 && len <= ELF_FILE_BUILD_ID_MAX) {
		memcpy(f->build_id, id, (size_t)len);
		f->build_id_len = (size_t)len;
	}
	read_segments(f);
	return 0;
}

static int open_fd(struct elf_file *f, int fd, const char *path, Elf_Cmd how)
{
	struct stat st;

	*f = (struct elf_file){ .fd = fd, .path = strdup(path) };
	if (!f->path || fstat(fd, &st)) {
		int code = f->path ? -errno : -ENOMEM;

		elf_file_close(f);
		return code;
	}
	f->size_bytes = (uint64_t)st.st_size;
	f->mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	if (S_ISREG(st.st_mode)) {
		elf_version(EV_CURRENT);
		f->elf = elf_begin(fd, how, NULL);
	}
	return read_identity(f);
}

static int open_path(struct elf_file *f, const char *path, Elf_Cmd how)
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
	return open_fd(f, fd, path, how);
}

int elf_file_open(struct elf_file *f, const char *path)
{
	return open_path(f, path, ELF_C_READ_MMAP);
}

int elf_file_open_fd(struct elf_file *f, int fd, const char *path)
{
	return open_fd(f, fd, path, ELF_C_READ_MMAP);
}

int elf_file_copy(struct elf_file *f, const char *path)
{
	return open_path(f, path, ELF_C_READ);
}

int elf_file_copy_fd(struct elf_file *f, int fd, const char *path)
{
	return open_fd(f, fd, path, ELF_C_READ);
}

int elf_file_open_memory(struct elf_file *f, void *image, size_t size, const char *path)
{
	*f = (struct elf_file){ .fd = -1, .path = strdup(path), .image = image, .size_bytes = size };
	if (!f->path) {
		elf_file_close(f);
		return -ENOMEM;
	}
	elf_version(EV_CURRENT);
	f->elf = elf_memory(image, size);
	return read_identity(f);
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

Elf_Scn *elf_file_section(const struct elf_file *f, const char *name, unsigned type, GElf_Shdr *header)
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

bool elf_file_has_dwarf(const struct elf_file *f)
{
	GElf_Shdr header;

	if (elf_file_section(f, ".debug_info", SHT_NULL, &header) && header.sh_type != SHT_NOBITS)
		return true;
	return elf_file_section(f, ".zdebug_info", SHT_NULL, &header) && header.sh_type != SHT_NOBITS;
}
