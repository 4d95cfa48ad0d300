/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What reading an ELF file would take, judged by its headers. */
#include "src/proc/elf_bounds.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "src/base/io.h"

#define BATCH	64	/* headers read at once */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "headers are used as they are in the file");

struct source {
	int fd;
	const uint8_t *image;
	uint64_t bytes;
	/* of a read that failed; a file that is cut short is read as far as it goes */
	int *error;
};

struct sums {
	struct elf_bounds *out;
	uint64_t stored, unfolded;	/* of compressed sections */
};

static bool holds(const struct source *s, uint64_t offset, uint64_t bytes)
{
	return offset <= s->bytes && bytes <= s->bytes - offset;
}

static bool read_at(const struct source *s, uint64_t offset, void *to, size_t bytes)
{
	int rc = 0;

	if (!holds(s, offset, bytes))
		return false;
	if (s->fd < 0)
		memcpy(to, s->image + offset, bytes);
	else
		rc = io_pread(s->fd, to, bytes, offset);
	if (rc && rc != -ENODATA)
		*s->error = rc;
	return !rc;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/*
 * What a section says that it unfolds to; 0 = it is not compressed. Both forms: SHF_COMPRESSED, and
 * GNU's own in .zdebug_*.
 */
static uint64_t unfolded_bytes(const struct source *s, const Elf64_Shdr *sh)
{
	union { Elf64_Chdr chdr; struct { char magic[4]; uint8_t size[8]; } gnu; } head;
	uint64_t size;

	if (sh->sh_flags & SHF_COMPRESSED)
		return read_at(s, sh->sh_offset, &head.chdr, sizeof(head.chdr)) ? head.chdr.ch_size
										: 0;
	if (!read_at(s, sh->sh_offset, &head.gnu, sizeof(head.gnu)) ||
	    memcmp(head.gnu.magic, "ZLIB", 4))
		return 0;
	memcpy(&size, head.gnu.size, sizeof(size));
	return be64toh(size);
}

static void add_section(const struct source *s, const Elf64_Shdr *sh, struct sums *sums)
{
	uint64_t unfolded;

	if (sh->sh_type == SHT_NULL || sh->sh_type == SHT_NOBITS ||
	    !holds(s, sh->sh_offset, sh->sh_size))
		return;			/* libelf reads nothing of it */
	if (sh->sh_type == SHT_SYMTAB || sh->sh_type == SHT_DYNSYM || sh->sh_type == SHT_STRTAB ||
	    sh->sh_type == SHT_NOTE)
		sums->out->symbol_bytes = plus(sums->out->symbol_bytes, sh->sh_size);
	else if (!(sh->sh_flags & SHF_ALLOC))
		sums->out->debug_bytes = plus(sums->out->debug_bytes, sh->sh_size);
	unfolded = sh->sh_flags & SHF_ALLOC ? 0 : unfolded_bytes(s, sh);
	if (unfolded) {
		sums->stored = plus(sums->stored, sh->sh_size);
		sums->unfolded = plus(sums->unfolded, unfolded);
	}
}

static int read_sections(const struct source *s, const Elf64_Ehdr *eh, struct elf_bounds *out)
{
	struct sums sums = { .out = out };
	uint64_t nr = eh->e_shnum;
	Elf64_Shdr sh[BATCH];

	if (!eh->e_shoff)
		return 0;
	if (eh->e_shentsize != sizeof(sh[0]) || !read_at(s, eh->e_shoff, sh, sizeof(sh[0])))
		return 0;		/* libelf finds no sections there either */
	if (!nr)
		nr = sh[0].sh_size;
	if (nr > ELF_MAX_SECTIONS)
		return -EFBIG;
	for (uint64_t i = 0; i < nr; i += BATCH) {
		size_t part = nr - i < BATCH ? nr - i : BATCH;

		if (!read_at(s, eh->e_shoff + i * sizeof(sh[0]), sh, part * sizeof(sh[0])))
			break;
		for (size_t k = 0; k < part; k++)
			add_section(s, &sh[k], &sums);
	}
	if (sums.unfolded > ELF_UNFOLD_FLOOR && sums.unfolded / ELF_UNFOLD_RATIO > sums.stored)
		out->debug_bytes = UINT64_MAX;
	out->debug_bytes = plus(out->debug_bytes, sums.unfolded);
	return out->symbol_bytes > ELF_MAX_SYMBOL_BYTES ? -EFBIG : 0;
}

static int check_segments(const struct source *s, const Elf64_Ehdr *eh)
{
	Elf64_Phdr ph[BATCH];

	if (!eh->e_phoff || eh->e_phentsize != sizeof(ph[0]))
		return 0;
	if (eh->e_phnum == PN_XNUM)
		return -EFBIG;		/* core files have as many */
	for (unsigned i = 0; i < eh->e_phnum; i += BATCH) {
		unsigned part = eh->e_phnum - i < BATCH ? eh->e_phnum - i : BATCH;

		if (!read_at(s, eh->e_phoff + i * sizeof(ph[0]), ph, part * sizeof(ph[0])))
			break;
		for (unsigned k = 0; k < part; k++)
			if (ph[k].p_type == PT_NOTE && ph[k].p_filesz > ELF_MAX_NOTE_BYTES &&
			    holds(s, ph[k].p_offset, ph[k].p_filesz))
				return -EFBIG;
	}
	return 0;
}

int elf_bounds_read(int fd, const void *image, uint64_t bytes, struct elf_bounds *out)
{
	int error = 0, rc;
	const struct source s = { .fd = fd, .image = image, .bytes = bytes, .error = &error };
	Elf64_Ehdr eh;

	*out = (struct elf_bounds){ 0 };
	if (!read_at(&s, 0, &eh, sizeof(eh)) || memcmp(eh.e_ident, ELFMAG, SELFMAG) ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_ident[EI_DATA] != ELFDATA2LSB)
		return error ? error : -ENOEXEC;
	rc = check_segments(&s, &eh);
	if (!rc)
		rc = read_sections(&s, &eh, out);
	return error ? error : rc;
}
