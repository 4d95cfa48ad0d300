/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Test of agent/unwind/cfi.c against elfutils on the libraries and programs of this machine: at the
 * first and last byte of every row of every FDE, the simple rule and the full step must find the
 * caller that elfutils finds.
 *
 * A frame is made up: registers and memory hold values that depend on their number and address
 * only, so two ways to the same value agree by chance never.
 */
#include "agent/unwind/cfi.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define STACK		0x7ffc00100000ull
#define ROUND_DOWN(x)	((x) & ~0xfffull)

/*
 * Of the registers a callee keeps, elfutils 0.188 (backends/x86_64_cfi.c) lists rax, number 0, in
 * the place of rbx, number 3.
 */
#define ELFUTILS_MIXES_UP	(1u << 0 | 1u << 3)

/* A file as the loader would map it, and what elfutils makes of it. */
struct file {
	const char *path;
	int fd;
	Elf *elf;
	Dwarf_CFI *cfi;
	uint8_t *map;			/* all PT_LOADs, at their distances */
	size_t map_bytes;
	uint64_t bias;			/* address here = address in the file + bias */
	uint64_t plt_start, plt_end;	/* .plt, .plt.sec, .plt.got: addresses in the file */
	struct cfi_module m;
	unsigned long nr_pcs, nr_plt, nr_slow, nr_kind[CFI_SLOW + 1];
};

static unsigned long total_pcs, total_slow;

static void map_segments(struct file *f)
{
	GElf_Phdr ph;
	uint64_t low = UINT64_MAX, high = 0;
	size_t nr, k;

	assert_int_equal(elf_getphdrnum(f->elf, &nr), 0);
	for (k = 0; k < nr; k++)
		if (gelf_getphdr(f->elf, (int)k, &ph) && ph.p_type == PT_LOAD) {
			low = ROUND_DOWN(ph.p_vaddr) < low ? ROUND_DOWN(ph.p_vaddr) : low;
			high = ph.p_vaddr + ph.p_memsz > high ? ph.p_vaddr + ph.p_memsz : high;
		}
	f->map_bytes = high - low;
	f->map = mmap(NULL, f->map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(f->map, MAP_FAILED);
	f->bias = (uint64_t)(uintptr_t)f->map - low;

	for (k = 0; k < nr; k++)
		if (gelf_getphdr(f->elf, (int)k, &ph) && ph.p_type == PT_LOAD)
			assert_ptr_not_equal(mmap(f->map + ROUND_DOWN(ph.p_vaddr) - low,
						  ph.p_filesz + ph.p_vaddr % 4096, PROT_READ,
						  MAP_PRIVATE | MAP_FIXED, f->fd,
						  (off_t)ROUND_DOWN(ph.p_offset)),
					     MAP_FAILED);
}

/* The module as the agent sees it: the mapping that holds .eh_frame_hdr. */
static void find_module(struct file *f)
{
	GElf_Phdr ph, hdr = { .p_type = PT_NULL };
	size_t nr, k;

	assert_int_equal(elf_getphdrnum(f->elf, &nr), 0);
	for (k = 0; k < nr; k++)
		if (gelf_getphdr(f->elf, (int)k, &ph) && ph.p_type == PT_GNU_EH_FRAME)
			hdr = ph;
	assert_int_equal(hdr.p_type, PT_GNU_EH_FRAME);
	for (k = 0; k < nr; k++)
		if (gelf_getphdr(f->elf, (int)k, &ph) && ph.p_type == PT_LOAD &&
		    hdr.p_vaddr - ph.p_vaddr < ph.p_filesz) {
			f->m.start = ph.p_vaddr + f->bias;
			f->m.end = f->m.start + ph.p_filesz;
		}
	f->m.hdr = hdr.p_vaddr + f->bias;
	f->m.hdr_bytes = hdr.p_memsz;
}

static void find_plt(struct file *f)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	size_t strings;

	f->plt_start = UINT64_MAX;
	assert_int_equal(elf_getshdrstrndx(f->elf, &strings), 0);
	while ((scn = elf_nextscn(f->elf, scn)) && gelf_getshdr(scn, &sh)) {
		const char *name = elf_strptr(f->elf, strings, sh.sh_name);

		if (!name || strncmp(name, ".plt", 4))
			continue;
		f->plt_start = sh.sh_addr < f->plt_start ? sh.sh_addr : f->plt_start;
		f->plt_end =
			sh.sh_addr + sh.sh_size > f->plt_end ? sh.sh_addr + sh.sh_size : f->plt_end;
	}
}

/* Returns 0, or -1 where the machine lacks it. */
static int file_open(struct file *f, const char *path)
{
	memset(f, 0, sizeof(*f));
	f->path = path;
	f->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (f->fd < 0)
		return -1;
	elf_version(EV_CURRENT);
	f->elf = elf_begin(f->fd, ELF_C_READ_MMAP, NULL);
	assert_non_null(f->elf);
	f->cfi = dwarf_getcfi_elf(f->elf);
	assert_non_null(f->cfi);
	map_segments(f);
	find_module(f);
	find_plt(f);
	return 0;
}

static void file_close(struct file *f)
{
	dwarf_cfi_end(f->cfi);
	elf_end(f->elf);
	munmap(f->map, f->map_bytes);
	close(f->fd);
}

/* ---- the frame and its reference ------------------------------------------------------------- */

static int read_word(void *ctx, uint64_t addr, uint64_t *val)
{
	(void)ctx;
	*val = (addr ^ addr >> 29) * 0x9e3779b97f4a7c15ull;
	return 0;
}

static uint64_t word_at(uint64_t addr)
{
	uint64_t val;

	read_word(NULL, addr, &val);
	return val;
}

static struct cfi_regs frame_regs(uint64_t pc)
{
	struct cfi_regs r = { .known = 0x1ffff };
	int k;

	for (k = 0; k < ARCH_DWARF_NR; k++)
		r.r[k] = (uint64_t)(k + 1) * 0x100000001ull;
	r.r[ARCH_DWARF_SP] = STACK;
	r.r[ARCH_DWARF_FP] = STACK + 0x2000;
	r.r[ARCH_DWARF_RA] = pc;
	return r;
}

/*
 * Evaluate what elfutils gives for a CFA or a register. *is_value: a value, not the address where
 * it is saved.
 */
static uint64_t ops_eval(const Dwarf_Op *ops, size_t n, const struct cfi_regs *r, uint64_t cfa,
			 int *is_value)
{
	uint64_t s[16] = { 0 };
	int d = 0;
	size_t k;

	*is_value = 0;
	for (k = 0; k < n; k++) {
		const Dwarf_Op *op = &ops[k];

		assert_in_range(d, 0, 15);
		if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
			s[d++] = op->atom - DW_OP_lit0;
			continue;
		}
		if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg16) {
			s[d++] = r->r[op->atom - DW_OP_breg0] + op->number;
			continue;
		}
		if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg16) {
			s[d++] = r->r[op->atom - DW_OP_reg0];
			*is_value = 1;
			continue;
		}
		switch (op->atom) {
		case DW_OP_call_frame_cfa:	s[d++] = cfa; break;
		case DW_OP_bregx:		s[d++] = r->r[op->number] + op->number2; break;
		case DW_OP_regx:		s[d++] = r->r[op->number]; *is_value = 1; break;
		case DW_OP_plus_uconst:		s[d - 1] += op->number; break;
		case DW_OP_consts:		s[d++] = op->number; break;
		case DW_OP_deref:		s[d - 1] = word_at(s[d - 1]); break;
		case DW_OP_stack_value:		*is_value = 1; break;
		case DW_OP_plus:		d--; s[d - 1] += s[d]; break;
		case DW_OP_minus:		d--; s[d - 1] -= s[d]; break;
		case DW_OP_mul:			d--; s[d - 1] *= s[d]; break;
		case DW_OP_and:			d--; s[d - 1] &= s[d]; break;
		case DW_OP_shl:			d--; s[d - 1] <<= s[d]; break;
		case DW_OP_ge:
			d--;
			s[d - 1] = (int64_t)s[d - 1] >= (int64_t)s[d];
			break;
		default:
			fail_msg("operation 0x%x: teach it to this test", op->atom);
		}
	}
	return s[d - 1];
}

/* The caller's registers as elfutils sees them. Returns 1, 0 at the end of the stack. */
static int reference_step(Dwarf_Frame *frame, const struct cfi_regs *r, struct cfi_regs *out,
			  uint64_t *cfa)
{
	Dwarf_Op mem[3], *ops;
	size_t n;
	int k, is_value;

	out->known = 0;
	assert_int_equal(dwarf_frame_cfa(frame, &ops, &n), 0);
	*cfa = n ? ops_eval(ops, n, r, 0, &is_value) : 0;
	for (k = 0; k < ARCH_DWARF_NR; k++) {
		assert_int_equal(dwarf_frame_register(frame, k, mem, &ops, &n), 0);
		if (!n && ops == mem)
			continue;
		out->known |= 1u << k;
		if (!n) {
			out->r[k] = r->r[k];
			continue;
		}
		out->r[k] = ops_eval(ops, n, r, *cfa, &is_value);
		if (!is_value)
			out->r[k] = word_at(out->r[k]);
	}
	return (out->known & 1u << ARCH_DWARF_RA) != 0;
}

/* ---- comparison ------------------------------------------------------------------------------ */

/* Follow a simple rule, as the agent's walker does. */
static void rule_step(const struct cfi_rule *rule, const struct cfi_regs *r, uint64_t *cfa,
		      uint64_t *ra, uint64_t *fp)
{
	uint64_t old_fp = r->r[ARCH_DWARF_FP], off = (uint64_t)(int64_t)rule->cfa_off;

	*fp = old_fp;
	if (rule->kind == CFI_FP_DEREF) {
		*cfa = word_at(old_fp + off);
		*fp = word_at(old_fp);
	} else {
		*cfa = (rule->kind == CFI_SP ? r->r[ARCH_DWARF_SP] : old_fp) + off;
		if (rule->fp_off)
			*fp = word_at(*cfa + 8 * (uint64_t)(int64_t)rule->fp_off);
	}
	*ra = word_at(*cfa - 8);
}

static int rule_agrees(const struct cfi_rule *rule, const struct cfi_regs *r,
		       const struct cfi_regs *ref, int more)
{
	uint64_t cfa, ra, fp, uc = r->r[ARCH_DWARF_SP];

	switch (rule->kind) {
	case CFI_NONE:
		return 0;
	case CFI_END:
		return !more;
	case CFI_SLOW:
		return 1;
	case CFI_SIGFRAME:
		ra = word_at(uc + 168);
		cfa = word_at(uc + 160);
		fp = word_at(uc + 120);
		break;
	default:
		rule_step(rule, r, &cfa, &ra, &fp);
	}
	return more && cfa == ref->r[ARCH_DWARF_SP] && ra == ref->r[ARCH_DWARF_RA] &&
	       fp == ref->r[ARCH_DWARF_FP];
}

static int step_agrees(const struct file *f, uint64_t pc, const struct cfi_regs *ref, int more,
		       bool signal)
{
	struct cfi_regs r = frame_regs(pc);
	int k, ret = cfi_step_slow(&f->m, pc + f->bias, &r, read_word, NULL);

	if (ret != (more ? 1 + signal : 0))
		return 0;
	if (!more)
		return 1;
	if ((r.known ^ ref->known) & ~ELFUTILS_MIXES_UP)
		return 0;
	for (k = 0; k < ARCH_DWARF_NR; k++)
		if ((r.known & ref->known & 1u << k) && r.r[k] != ref->r[k])
			return 0;
	return 1;
}

static void compare_at(struct file *f, Dwarf_Frame *frame, uint64_t pc, bool signal)
{
	struct cfi_regs r = frame_regs(pc), ref;
	struct cfi_rule rule;
	uint64_t cfa;
	int more = reference_step(frame, &r, &ref, &cfa);

	cfi_rule_find(&f->m, pc + f->bias, &rule);
	if (!rule_agrees(&rule, &r, &ref, more))
		fail_msg("%s 0x%lx: rule kind %d fp %d cfa %d disagrees", f->path,
			 (unsigned long)pc, rule.kind, rule.fp_off, rule.cfa_off);
	if (!step_agrees(f, pc, &ref, more, signal))
		fail_msg("%s 0x%lx: full step disagrees", f->path, (unsigned long)pc);
	f->nr_pcs++;
	f->nr_kind[rule.kind]++;
	if (pc >= f->plt_start && pc < f->plt_end)
		f->nr_plt++;
	else
		f->nr_slow += rule.kind == CFI_SLOW;
}

/* All rows from `pc` on, below `next`, where the next FDE begins. */
static void compare_fde(struct file *f, uint64_t pc, uint64_t next)
{
	struct cfi_rule rule;
	Dwarf_Frame *frame;
	Dwarf_Addr start, end;
	bool signal;

	while (pc < next && !dwarf_cfi_addrframe(f->cfi, pc, &frame)) {
		assert_int_equal(dwarf_frame_info(frame, &start, &end, &signal), 16);
		assert_true(start <= pc && end > pc);
		compare_at(f, frame, pc, signal);
		if (end - 1 != pc)
			compare_at(f, frame, end - 1, signal);
		free(frame);
		pc = end;
	}
	if (pc < next)
		assert_int_equal(cfi_rule_find(&f->m, pc + f->bias, &rule), CFI_NONE);
}

static void compare_file(const char *path)
{
	struct file f;
	const int32_t *table;
	uint32_t nr, k;

	if (file_open(&f, path)) {
		print_message("%s: not on this machine\n", path);
		return;
	}
	assert_memory_equal((const void *)(uintptr_t)f.m.hdr, "\x01\x1b\x03\x3b", 4);
	memcpy(&nr, (const void *)(uintptr_t)(f.m.hdr + 8), 4);
	table = (const int32_t *)(uintptr_t)(f.m.hdr + 12);
	for (k = 0; k < nr; k++) {
		uint64_t hdr = f.m.hdr - f.bias;

		compare_fde(&f, hdr + (uint64_t)(int64_t)table[2 * k],
			    k + 1 < nr ? hdr + (uint64_t)(int64_t)table[2 * k + 2] : UINT64_MAX);
	}
	print_message("%s: %u fdes, %lu pcs (%lu in plt): sp %lu, fp %lu, deref %lu, end %lu, "
		      "signal %lu, slow outside plt %lu = %.3f %%\n",
		      path, nr, f.nr_pcs, f.nr_plt, f.nr_kind[CFI_SP], f.nr_kind[CFI_FP],
		      f.nr_kind[CFI_FP_DEREF], f.nr_kind[CFI_END], f.nr_kind[CFI_SIGFRAME],
		      f.nr_slow, 100.0 * (double)f.nr_slow / (double)(f.nr_pcs - f.nr_plt));
	total_pcs += f.nr_pcs;
	total_slow += f.nr_slow;
	file_close(&f);
}

#define LIB "/usr/lib/x86_64-linux-gnu/"

static void test_files(void **state)
{
	static const char *const paths[] = {
		LIB "libc.so.6", LIB "ld-linux-x86-64.so.2", LIB "libm.so.6", LIB "libgcc_s.so.1",
		LIB "libstdc++.so.6", LIB "libsqlite3.so.0", LIB "libpython3.11.so.1.0",
		LIB "libperl.so.5.36", LIB "libcrypto.so.3",
		"/usr/bin/python3", "/usr/bin/perl", "/usr/bin/sqlite3",
	};
	size_t k;

	(void)state;
	for (k = 0; k < sizeof(paths) / sizeof(paths[0]); k++)
		compare_file(paths[k]);
	print_message("%lu pcs compared, %lu slow outside plt\n", total_pcs, total_slow);
	assert_true(total_pcs > 100000);
	assert_true(total_slow * 100 < total_pcs);
}

/* The reading without a table finds the same rules. */
static void test_no_table(void **state)
{
	struct file f;
	struct cfi_module bare;
	struct cfi_rule a, b;
	uint32_t nr, k;
	const int32_t *table;

	(void)state;
	assert_int_equal(file_open(&f, LIB "libc.so.6"), 0);
	bare = f.m;
	bare.hdr = 0;
	bare.frame = f.m.hdr + 4 + (uint64_t)(int64_t)*(const int32_t *)(uintptr_t)(f.m.hdr + 4);
	memcpy(&nr, (const void *)(uintptr_t)(f.m.hdr + 8), 4);
	table = (const int32_t *)(uintptr_t)(f.m.hdr + 12);
	for (k = 0; k < nr; k += 97) {
		uint64_t pc = f.m.hdr + (uint64_t)(int64_t)table[2 * k] + 3;

		memset(&a, 0, sizeof(a));	/* padding is compared too */
		memset(&b, 0, sizeof(b));
		cfi_rule_find(&f.m, pc, &a);
		cfi_rule_find(&bare, pc, &b);
		assert_memory_equal(&a, &b, sizeof(a));
	}
	file_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_no_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
