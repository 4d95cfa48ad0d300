/* SPDX-License-Identifier: GPL-2.0-or-later
 * Uprobes set on functions of a running process, as tracers and system-wide profilers set them.
 *
 *	uprobe [-r] [-t TIMES] PID FILE FUNCTION[+OFFSET]...	set all, say "set", wait for input or its end, say "hits N", take them away
 *	uprobe -n						say what is missing for it; status 1 then
 *	uprobe -l FILE						functions of the file: every name that an allocator's has
 *
 * -r: uretprobes. -t: set and take away that often, without waiting. Names are looked for in the dynamic symbols, then in all symbols. N counts
 * hits of the thread PID only, which is what perf_event_open(2) counts.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST	400

struct file {
	const char *path;
	const uint8_t *bytes;
	const Elf64_Ehdr *header;
};

static void die(const char *what, const char *which)
{
	fprintf(stderr, "uprobe: %s: %s: %s\n", what, which, strerror(errno));
	exit(2);
}

static struct file file_open(const char *path)
{
	struct file f = { .path = path };
	struct stat st;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &st))
		die("cannot open", path);
	f.bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (f.bytes == MAP_FAILED || memcmp(f.bytes, ELFMAG, SELFMAG))
		die("no ELF file", path);
	f.header = (const Elf64_Ehdr *)f.bytes;
	return f;
}

/* Call `each` for every function of the symbol tables of this type, until it says true. */
static int symbols(const struct file *f, uint32_t type, int (*each)(void *arg, const char *name, uint64_t value), void *arg)
{
	const Elf64_Shdr *s = (const Elf64_Shdr *)(f->bytes + f->header->e_shoff);

	for (unsigned i = 0; i < f->header->e_shnum; i++) {
		const Elf64_Sym *sym = (const Elf64_Sym *)(f->bytes + s[i].sh_offset);
		const char *strings = (const char *)f->bytes + s[s[i].sh_link].sh_offset;

		for (size_t k = 0; s[i].sh_type == type && k < s[i].sh_size / sizeof(*sym); k++)
			if (ELF64_ST_TYPE(sym[k].st_info) == STT_FUNC && sym[k].st_shndx && each(arg, strings + sym[k].st_name, sym[k].st_value))
				return 1;
	}
	return 0;
}

static uint64_t file_offset(const struct file *f, uint64_t address)
{
	const Elf64_Phdr *p = (const Elf64_Phdr *)(f->bytes + f->header->e_phoff);

	for (unsigned i = 0; i < f->header->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && address - p[i].p_vaddr < p[i].p_filesz)
			return address - p[i].p_vaddr + p[i].p_offset;
	errno = ENOENT;
	die("not in the file", f->path);
	return 0;
}

struct wanted {
	const char *name;
	size_t length;
	uint64_t value;
};

static int is_wanted(void *arg, const char *name, uint64_t value)
{
	struct wanted *w = arg;

	w->value = value;
	return !strncmp(name, w->name, w->length) && !name[w->length];
}

/* File offset of FUNCTION[+OFFSET]. */
static uint64_t place(const struct file *f, const char *text)
{
	const char *plus = strchr(text, '+');
	struct wanted w = { text, plus ? (size_t)(plus - text) : strlen(text), 0 };

	errno = ENOENT;
	if (!symbols(f, SHT_DYNSYM, is_wanted, &w) && !symbols(f, SHT_SYMTAB, is_wanted, &w))
		die("no such function", text);
	return file_offset(f, w.value) + (plus ? strtoul(plus + 1, NULL, 0) : 0);
}

static uint32_t pmu_type(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	unsigned type = 0;

	if (f && fscanf(f, "%u", &type) != 1)
		type = 0;
	if (f)
		fclose(f);
	return type;
}

static int probe(pid_t pid, const char *path, uint64_t offset, int ret)
{
	struct perf_event_attr a = {
		.type = pmu_type(), .size = sizeof(a), .config = (uint64_t)ret, .config1 = (uint64_t)path, .config2 = offset,
	};

	return (int)syscall(SYS_perf_event_open, &a, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Its own function, probed: can it be done at all? */
__attribute__((noinline)) void probed(void);
void probed(void) { __asm__ volatile("nop"); }

static int what_is_missing(void)
{
	struct file f = file_open("/proc/self/exe");
	uint64_t hits = 0;
	int fd;

	if (!pmu_type())
		return puts("the kernel has no uprobes for perf_event_open (/sys/bus/event_source/devices/uprobe)") * 0 + 1;
	fd = probe(getpid(), "/proc/self/exe", place(&f, "probed"), 0);
	if (fd < 0)
		return printf("uprobes may not be set: %s\n", strerror(errno)) * 0 + 1;
	probed();
	if (read(fd, &hits, sizeof(hits)) != sizeof(hits) || hits != 1)
		return puts("uprobes do not work here") * 0 + 1;
	return 0;
}

static const char *const allocators[] = {
	"malloc", "free", "calloc", "realloc", "reallocarray", "aligned_alloc", "memalign", "posix_memalign", "valloc", "pvalloc", "cfree",
	"free_sized", "free_aligned_sized", "malloc_usable_size", "sigaction", "mmap", "mmap64", "munmap", "mremap", "prctl", "syscall",
	"mallocx", "rallocx", "xallocx", "dallocx", "sdallocx",
};

static const char *const prefixes[] = { "_Znw", "_Zna", "_Zdl", "_Zda", "mi_", "tc_" };

static int list(void *nr, const char *name, uint64_t value)
{
	int is = 0;

	(void)value;
	for (size_t i = 0; i < sizeof(allocators) / sizeof(allocators[0]); i++)
		is |= !strcmp(name, allocators[i]);
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		is |= !strncmp(name, prefixes[i], strlen(prefixes[i]));
	if (is)
		puts(name);
	*(int *)nr |= is;
	return 0;
}

int main(int argc, char **argv)
{
	int ret = 0, times = 0, option, nr = 0, fds[MOST];
	uint64_t hits = 0, one;
	struct file f;

	while ((option = getopt(argc, argv, "rnlt:")) > 0) {
		if (option == 'n')
			return what_is_missing();
		if (option == 'l') {
			f = file_open(argv[optind]);
			symbols(&f, SHT_DYNSYM, list, &ret);
			if (!ret)
				symbols(&f, SHT_SYMTAB, list, &ret);
			return !ret;
		}
		ret |= option == 'r';
		times = option == 't' ? atoi(optarg) : times;
	}
	if (argc - optind < 3 || argc - optind - 2 > MOST)
		return 2;
	f = file_open(argv[optind + 1]);
	for (int round = 0; round <= times; round++) {
		while (nr)
			close(fds[--nr]);
		for (int i = optind + 2; i < argc && (!times || round < times); i++, nr++)
			if ((fds[nr] = probe(atoi(argv[optind]), f.path, place(&f, argv[i]), ret)) < 0)
				die("cannot be probed", argv[i]);
	}
	puts("set");
	fflush(stdout);
	if (!times && read(0, &one, 1) < 0)
		die("read", "input");
	while (nr--)
		if (read(fds[nr], &one, sizeof(one)) == sizeof(one))
			hits += one;
	printf("hits %llu\n", (unsigned long long)hits);
	return 0;
}
