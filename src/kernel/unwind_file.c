/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An ELF file as unwinding needs it. */
#include "src/kernel/unwind_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/elf_arch.h"

#define MAX_HEADERS	256
#define IMAGE_MAX_BYTES	(1u << 20)
#define PAGE_BYTES	4096

/* ---- where it is ----------------------------------------------------------------------------- */

/* A part of the file that is loaded. */
static bool covers(const GElf_Phdr *ph, uint64_t address, uint64_t bytes)
{
	return address >= ph->p_vaddr && address - ph->p_vaddr < ph->p_filesz &&
	       bytes <= ph->p_filesz - (address - ph->p_vaddr);
}

/* The segment that has all of a range. False: none, or it is no range of a file. */
static bool segment_of(struct elf_file *elf, size_t nr, uint64_t address, uint64_t bytes,
		       GElf_Phdr *out)
{
	for (size_t i = 0; i < nr; i++)
		if (gelf_getphdr(elf->elf, (int)i, out) && out->p_type == PT_LOAD &&
		    covers(out, address, bytes) && out->p_vaddr + out->p_filesz > out->p_vaddr &&
		    out->p_offset + out->p_filesz >= out->p_offset)
			return true;
	return false;
}

static void add_code(struct unwind_file *f, const GElf_Phdr *ph)
{
	if (f->nr_code == UNWIND_FILE_SEGMENTS || !ph->p_filesz ||
	    ph->p_offset + ph->p_filesz < ph->p_offset)
		return;
	f->code[f->nr_code++] = (struct unwind_segment){
		.offset = ph->p_offset, .bytes = ph->p_filesz, .vaddr = ph->p_vaddr
	};
}

/* Code, and where .eh_frame_hdr and .eh_frame are said to be. How many program headers. */
static size_t read_headers(struct unwind_file *f, struct elf_file *elf)
{
	GElf_Shdr section;
	size_t nr;

	if (elf_getphdrnum(elf->elf, &nr))
		return 0;
	if (nr > MAX_HEADERS)
		nr = MAX_HEADERS;
	for (size_t i = 0; i < nr; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf->elf, (int)i, &ph))
			continue;
		if (ph.p_type == PT_LOAD && ph.p_flags & PF_X)
			add_code(f, &ph);
		if (ph.p_type == PT_GNU_EH_FRAME) {
			f->hdr = ph.p_vaddr;
			f->hdr_bytes = ph.p_filesz;
		}
	}
	if (elf_file_section(elf, ".eh_frame", SHT_NULL, &section) &&
	    section.sh_type != SHT_NOBITS && section.sh_flags & SHF_ALLOC) {
		f->frame = section.sh_addr;
		f->frame_bytes = section.sh_size;
	}
	if (elf_file_section(elf, ".init", SHT_PROGBITS, &section))
		f->init = section.sh_addr;
	if (elf_file_section(elf, ".fini", SHT_PROGBITS, &section))
		f->fini = section.sh_addr;
	return nr;
}

/*
 * What must be read: header and section where both are known and in one segment; the rest of the
 * segment where only the header is, which says itself where the section begins; only the section
 * where there is no header (gcc -static).
 */
static void choose_range(struct unwind_file *f, struct elf_file *elf, size_t nr)
{
	GElf_Phdr ph, other;
	bool hdr = f->hdr_bytes && segment_of(elf, nr, f->hdr, f->hdr_bytes, &ph);
	bool frame = f->frame_bytes && segment_of(elf, nr, f->frame, f->frame_bytes, &other);

	if (hdr && frame && (ph.p_vaddr != other.p_vaddr || ph.p_offset != other.p_offset))
		hdr = false;
	if (!hdr)
		f->hdr = f->hdr_bytes = 0;
	if (!frame)
		f->frame = f->frame_bytes = 0;
	if (!hdr && !frame)
		return;
	if (!hdr)
		ph = other;
	f->vaddr = hdr ? f->hdr : f->frame;
	if (frame && f->frame < f->vaddr)
		f->vaddr = f->frame;
	if (!frame)
		f->vaddr = ph.p_vaddr;
	f->bytes = ph.p_vaddr + ph.p_filesz - f->vaddr;
	if (frame) {
		uint64_t end = f->frame + f->frame_bytes;

		if (hdr && f->hdr + f->hdr_bytes > end)
			end = f->hdr + f->hdr_bytes;
		f->bytes = end - f->vaddr;
	}
	f->offset = ph.p_offset + (f->vaddr - ph.p_vaddr);
	f->too_large = f->bytes > UNWIND_FILE_MAX_BYTES;
}

static int read_file(struct unwind_file *f, struct elf_file *elf)
{
	GElf_Ehdr eh;

	if (!gelf_getehdr(elf->elf, &eh) || eh.e_machine != ARCH_ELF_MACHINE)
		return -ENOEXEC;
	f->entry = eh.e_entry;
	memcpy(f->build_id, elf->build_id, elf->build_id_len);
	f->build_id_len = elf->build_id_len;
	choose_range(f, elf, read_headers(f, elf));
	return f->nr_code ? 0 : -ENOEXEC;
}

int unwind_file_open(struct unwind_file *f, int fd, const char *path)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0), rc;
	struct elf_file elf;

	*f = (struct unwind_file){ 0 };
	if (copy < 0)
		return -errno;
	rc = elf_file_open_fd(&elf, copy, path);
	if (rc)
		return rc == -EFBIG ? -ENOEXEC : rc;
	rc = read_file(f, &elf);
	elf_file_close(&elf);
	return rc;
}

/* An ELF file from a page on, without its sections, which are in no memory. False: it is none. */
static bool read_image(int fd, off_t at, uint8_t *image, size_t *bytes)
{
	Elf64_Ehdr *eh = (Elf64_Ehdr *)image;
	ssize_t n = pread(fd, image, IMAGE_MAX_BYTES, at);

	if (n < (ssize_t)sizeof(*eh) || memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	eh->e_shoff = 0;
	eh->e_shnum = eh->e_shstrndx = 0;
	*bytes = (size_t)n;
	return true;
}

int unwind_file_open_image(struct unwind_file *f, int fd)
{
	uint8_t *image = malloc(IMAGE_MAX_BYTES);
	struct elf_file elf;
	size_t bytes;
	off_t at = 0;
	int rc;

	*f = (struct unwind_file){ 0 };
	if (!image)
		return -ENOMEM;
	if (!read_image(fd, at, image, &bytes) && !read_image(fd, at = PAGE_BYTES, image, &bytes)) {
		free(image);
		return -ENOEXEC;
	}
	rc = elf_file_open_memory(&elf, image, bytes, "agent");
	if (rc)
		return rc;
	rc = read_file(f, &elf);
	elf_file_close(&elf);
	/* what is said to be at an offset of the file is at its address */
	for (unsigned i = 0; i < f->nr_code; i++)
		f->code[i].offset = f->code[i].vaddr + (uint64_t)at;
	f->offset = f->vaddr + (uint64_t)at;
	return rc;
}

/* ---- in memory ------------------------------------------------------------------------------- */

/* Room for it. The kernel's addresses are high, so that code at lower ones has an address, too. */
static int make_room(struct unwind_file *f, uint8_t **out)
{
	*out = mmap(NULL, f->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return *out == MAP_FAILED ? -ENOMEM : 0;
}

static void take(struct unwind_file *f, const uint8_t *bytes)
{
	uint64_t at = (uint64_t)(uintptr_t)bytes;

	f->cfi = (struct cfi_module){
		.start = at,
		.end = at + f->bytes,
		.hdr = f->hdr_bytes ? at + (f->hdr - f->vaddr) : 0,
		.hdr_bytes = f->hdr_bytes,
		.frame = f->frame_bytes ? at + (f->frame - f->vaddr) : 0,
		.frame_bytes = f->frame_bytes,
	};
}

int unwind_file_load(struct unwind_file *f, int fd)
{
	uint8_t *bytes;
	uint64_t done = 0;
	ssize_t n = 1;
	int rc;

	if (f->cfi.start || !f->bytes || f->too_large)
		return 0;
	rc = make_room(f, &bytes);
	if (rc)
		return rc;
	while (done < f->bytes && n) {
		n = pread(fd, bytes + done, f->bytes - done, (off_t)(f->offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		done += (uint64_t)n;
	}
	if (done < f->bytes) {
		munmap(bytes, f->bytes);
		return -EIO;
	}
	take(f, bytes);
	return 0;
}

void unwind_file_unload(struct unwind_file *f)
{
	if (f->cfi.start)
		munmap((void *)(uintptr_t)f->cfi.start, f->bytes);
	f->cfi = (struct cfi_module){ 0 };
}

int unwind_file_open_vdso(struct unwind_file *f)
{
	struct elf_file elf;
	uint8_t *bytes;
	int rc = elf_file_open_vdso(&elf);

	*f = (struct unwind_file){ 0 };
	if (rc)
		return rc;
	rc = read_file(f, &elf);
	if (!rc && (f->offset > elf.size_bytes || f->bytes > elf.size_bytes - f->offset))
		rc = -ENOEXEC;
	if (!rc && f->bytes)
		rc = make_room(f, &bytes);
	if (!rc && f->bytes) {
		memcpy(bytes, (const uint8_t *)elf.image + f->offset, f->bytes);
		take(f, bytes);
	}
	elf_file_close(&elf);
	return rc;
}

bool unwind_file_address(const struct unwind_file *f, uint64_t offset, uint64_t *address)
{
	for (unsigned i = 0; i < f->nr_code; i++) {
		const struct unwind_segment *s = &f->code[i];

		if (offset >= s->offset && offset - s->offset < s->bytes) {
			*address = s->vaddr + (offset - s->offset);
			return true;
		}
	}
	return false;
}
