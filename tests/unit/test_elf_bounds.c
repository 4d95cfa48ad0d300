/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit test of what an ELF file may make us read: each header that asks for too much, from memory
 * and from a file.
 */
#include "src/proc/elf_bounds.h"

#include <elf.h>
#include <endian.h>
#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "src/proc/elffile.h"

#define NR_SECTIONS	4

/* A file of headers only; it may say that it is as large as it likes, being sparse. */
struct file {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[2];
	Elf64_Shdr sh[NR_SECTIONS];
	union { Elf64_Chdr chdr; char gnu[sizeof(Elf64_Chdr)]; } packed[NR_SECTIONS];
};

#define PACKED(i)	(offsetof(struct file, packed) + (i) * sizeof(Elf64_Chdr))

static struct file sound(void)
{
	struct file f = {
		.eh = { .e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = offsetof(struct file, ph),
			.e_shoff = offsetof(struct file, sh),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 2,
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = NR_SECTIONS },
	};

	memcpy(f.eh.e_ident, ELFMAG, SELFMAG);
	f.eh.e_ident[EI_CLASS] = ELFCLASS64;
	f.eh.e_ident[EI_DATA] = ELFDATA2LSB;
	f.eh.e_ident[EI_VERSION] = EV_CURRENT;
	return f;
}

static int judge(const struct file *f, uint64_t bytes, struct elf_bounds *b)
{
	char path[] = "/tmp/test_elf_bounds.XXXXXX";
	int fd = mkstemp(path), rc;
	struct elf_bounds again;

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(pwrite(fd, f, sizeof(*f), 0), sizeof(*f));
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	rc = elf_bounds_read(fd, NULL, bytes, b);
	if (bytes <= sizeof(*f)) {
		assert_int_equal(elf_bounds_read(-1, f, bytes, &again), rc);
		assert_memory_equal(b, &again, sizeof(again));
	}
	close(fd);
	return rc;
}

static void other_files(void **state)
{
	struct file f = sound();
	struct elf_bounds b;

	(void)state;
	assert_int_equal(judge(&f, sizeof(f), &b), 0);
	assert_int_equal(b.symbol_bytes, 0);
	assert_int_equal(b.debug_bytes, 0);
	assert_int_equal(judge(&f, sizeof(f.eh) - 1, &b), -ENOEXEC);
	f.eh.e_ident[EI_DATA] = ELFDATA2MSB;
	assert_int_equal(judge(&f, sizeof(f), &b), -ENOEXEC);
	f = sound();
	f.eh.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(judge(&f, sizeof(f), &b), -ENOEXEC);
	f = sound();
	f.eh.e_ident[0] = 'x';
	assert_int_equal(judge(&f, sizeof(f), &b), -ENOEXEC);
}

/*
 * What is read of a file counts once for each section that has it; what the file has not, and what
 * is loaded, does not.
 */
static void sections_add_up(void **state)
{
	struct file f = sound();
	struct elf_bounds b;

	(void)state;
	f.sh[0] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB, .sh_size = 100 };
	f.sh[1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_flags = SHF_ALLOC, .sh_size = 30 };
	f.sh[2] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_size = 7 };
	f.sh[3] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_size = 200 };
	assert_int_equal(judge(&f, sizeof(f), &b), 0);
	assert_int_equal(b.symbol_bytes, 130);
	assert_int_equal(b.debug_bytes, 207);
	f.sh[2].sh_flags = SHF_ALLOC;
	f.sh[3].sh_offset = sizeof(f) - 199;
	assert_int_equal(judge(&f, sizeof(f), &b), 0);
	assert_int_equal(b.debug_bytes, 0);
	f.sh[3].sh_offset = UINT64_MAX - 100;
	assert_int_equal(judge(&f, sizeof(f), &b), 0);
	assert_int_equal(b.debug_bytes, 0);
	f.sh[3] = (Elf64_Shdr){ .sh_type = SHT_NOBITS, .sh_size = 200 };
	assert_int_equal(judge(&f, sizeof(f), &b), 0);
	assert_int_equal(b.debug_bytes, 0);
}

static void tables_have_bounds(void **state)
{
	struct file f = sound();
	struct elf_bounds b;

	(void)state;
	f.eh.e_shnum = 0;
	f.sh[0].sh_size = ELF_MAX_SECTIONS;
	assert_int_equal(judge(&f, sizeof(f), &b), 0);
	f.sh[0].sh_size = ELF_MAX_SECTIONS + 1;
	assert_int_equal(judge(&f, sizeof(f), &b), -EFBIG);
	f = sound();
	f.eh.e_phnum = PN_XNUM;
	assert_int_equal(judge(&f, sizeof(f), &b), -EFBIG);
	f = sound();
	f.ph[1] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_filesz = ELF_MAX_NOTE_BYTES };
	assert_int_equal(judge(&f, 1ull << 32, &b), 0);
	f.ph[1].p_filesz++;
	assert_int_equal(judge(&f, 1ull << 32, &b), -EFBIG);
	f.ph[1].p_type = PT_LOAD;
	assert_int_equal(judge(&f, 1ull << 32, &b), 0);
}

static void symbols_have_bounds(void **state)
{
	struct file f = sound();
	struct elf_bounds b;

	(void)state;
	f.sh[1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_size = ELF_MAX_SYMBOL_BYTES - 10 };
	f.sh[2] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB, .sh_size = 10 };
	assert_int_equal(judge(&f, 1ull << 37, &b), 0);
	f.sh[2].sh_size = 11;
	assert_int_equal(judge(&f, 1ull << 37, &b), -EFBIG);
	f.sh[2].sh_type = SHT_PROGBITS;
	f.sh[2].sh_size = 1ull << 36;
	assert_int_equal(judge(&f, 1ull << 37, &b), 0);		/* the symbols can be read */
	assert_int_equal(b.debug_bytes, 1ull << 36);
}

/*
 * Compressed in either form: what it unfolds to counts beside what is stored; more than makes sense
 * is too much at any limit.
 */
static void unfolding_has_bounds(void **state)
{
	const uint64_t stored = 4u << 20, most = stored * ELF_UNFOLD_RATIO;
	uint64_t size;
	struct elf_bounds b;

	(void)state;
	for (int gnu = 0; gnu < 2; gnu++) {
		for (unsigned over = 0; over < 2; over++) {
			struct file f = sound();

			f.sh[1] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
						.sh_flags = gnu ? 0 : SHF_COMPRESSED,
						.sh_offset = PACKED(1),
						.sh_size = stored };
			size = htobe64(most + over * ELF_UNFOLD_RATIO * stored);
			if (gnu) {
				memcpy(f.packed[1].gnu, "ZLIB", 4);
				memcpy(f.packed[1].gnu + 4, &size, 8);
			} else {
				f.packed[1].chdr = (Elf64_Chdr){ .ch_type = ELFCOMPRESS_ZLIB,
								 .ch_size = be64toh(size) };
			}
			assert_int_equal(judge(&f, 1u << 30, &b), 0);
			assert_int_equal(b.debug_bytes, over ? UINT64_MAX : stored + most);
		}
	}
	for (unsigned over = 0; over < 2; over++) {	/* small ones may be very regular */
		struct file f = sound();

		f.sh[1] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
					.sh_flags = SHF_COMPRESSED,
					.sh_offset = PACKED(1),
					.sh_size = 1000 };
		f.packed[1].chdr = (Elf64_Chdr){ .ch_type = ELFCOMPRESS_ZLIB,
						 .ch_size = ELF_UNFOLD_FLOOR + over };
		assert_int_equal(judge(&f, 1u << 30, &b), 0);
		assert_int_equal(b.debug_bytes, over ? UINT64_MAX : ELF_UNFOLD_FLOOR + 1000);
	}
}

/* Such files are refused before libelf allocates what they state. */
static void files_are_judged_when_opened(void **state)
{
	struct file f = sound(), *copy = malloc(sizeof(f));
	struct elf_file file;

	(void)state;
	f.eh.e_phnum = PN_XNUM;
	*copy = f;
	assert_int_equal(elf_file_open_memory(&file, copy, sizeof(f), "x"), -ENOEXEC);
	copy = malloc(sizeof(f));
	*copy = sound();
	assert_int_equal(elf_file_open_memory(&file, copy, sizeof(f), "x"), 0);
	elf_file_close(&file);
}

static void what_cannot_be_read_is_not_judged(void **state)
{
	/* nothing is mapped at its beginning: EIO */
	int fd = open("/proc/self/mem", O_RDONLY);
	struct elf_bounds b;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(elf_bounds_read(fd, NULL, 4096, &b), -EIO);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_files),
		cmocka_unit_test(sections_add_up),
		cmocka_unit_test(tables_have_bounds),
		cmocka_unit_test(symbols_have_bounds),
		cmocka_unit_test(unfolding_has_bounds),
		cmocka_unit_test(files_are_judged_when_opened),
		cmocka_unit_test(what_cannot_be_read_is_not_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
