/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/core/core.c: cores of a process whose contents are known, made by the kernel and by gdb; and
 * files that are damaged.
 */
#include "unit.h"

#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/procfs.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/core/core.h"

#define BYTES		(3u << 20)
#define VECTOR_WORD	0x1122334455667788u
#define GENERAL_WORD	0x99aabbccddeeff00u
#define FILE_BYTES	20000

static char dir[] = "/tmp/test_core.XXXXXX";
static uint8_t *pattern;	/* as the child has it, too */
static uint8_t *mapped;		/* a file of 20000 bytes */
static uint64_t local;		/* address of one in the child's first thread */

static const char *in_dir(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

/* ---- the process ----------------------------------------------------------------------------- */

static atomic_int second;	/* the child's second thread */

static void *waits(void *arg)
{
	second = gettid();
	__asm__ volatile("movq %0, %%xmm5\nmov %1, %%r12\nmov %2, %%eax\nsyscall" ::"r"(
				 (uint64_t)VECTOR_WORD),
			 "r"((uint64_t)GENERAL_WORD), "i"(SYS_pause)
			 : "rax", "rcx", "r11", "r12", "xmm5", "memory");
	return arg;
}

/*
 * A child with two threads, the second one in pause(); says so, then ends by `signal` when told, 0
 * = waits.
 */
static pid_t start(int number)
{
	int said[2];
	pid_t child;
	char c;

	assert_int_equal(pipe(said), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		const struct rlimit no_limit = { RLIM_INFINITY, RLIM_INFINITY };
		pthread_t thread;
		char path[64];
		FILE *f = NULL;
		int state = 0;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "a name (1 2)");
		if (chdir(dir) || pthread_create(&thread, NULL, waits, NULL))
			_exit(1);
		setrlimit(RLIMIT_CORE, &no_limit);
		do {	/* until it is in pause() */
			snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)second);
			f = fopen(path, "re");
			if (f && fscanf(f, "%d", &state) != 1)
				state = 0;
			if (f)
				fclose(f);
		} while (state != SYS_pause);
		signal(number ? number : SIGUSR1, SIG_DFL);
		if (write(said[1], "", 1) == 1 && number)
			raise(number);
		for (;;)
			pause();
	}
	close(said[1]);
	assert_int_equal(read(said[0], &c, 1), 1);
	close(said[0]);
	return child;
}

/* ---- what must be in its core ---------------------------------------------------------------- */

static const struct proc_map *map_at(const struct core *c, uint64_t address)
{
	for (size_t i = 0; i < c->maps.nr; i++)
		if (address >= c->maps.v[i].start && address < c->maps.v[i].end)
			return &c->maps.v[i];
	fail_msg("no mapping at %#lx", (unsigned long)address);
	return NULL;
}

static bool has_word(const struct core *c, uint64_t word)
{
	for (size_t i = 0; i < c->threads.nr; i++)
		for (size_t k = 0; k < c->threads.v[i].nr_words; k++)
			if (c->threads.v[i].words[k] == word)
				return true;
	return false;
}

static void same_memory(const struct core *c, const void *address, size_t bytes)
{
	uint8_t *got = malloc(bytes);

	assert_int_equal(core_read(c, (uint64_t)(uintptr_t)address, got, bytes), bytes);
	assert_memory_equal(got, address, bytes);
	free(got);
}

static void check(const struct core *c, pid_t pid)
{
	const struct proc_map *map;
	char exe[256] = "", c1;

	assert_int_equal(c->pid, pid);
	assert_int_equal(c->threads.nr, 2);
	assert_true(c->threads.v[0].tid == pid || c->threads.v[1].tid == pid);
	assert_true(has_word(c, VECTOR_WORD));
	assert_true(has_word(c, GENERAL_WORD));
	same_memory(c, pattern, BYTES);
	same_memory(c, pattern + 4097, 70001);
	/* code, which kernels leave out */
	same_memory(c, (const void *)(uintptr_t)(((uintptr_t)waits) & ~15ul), 64);
	same_memory(c, (const void *)(uintptr_t)fopen, 64);
	same_memory(c, mapped + 5000, 10000);
	assert_int_equal(core_read(c, 8, &c1, 1), 0);
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	map = map_at(c, (uint64_t)(uintptr_t)waits);
	assert_string_equal(map->path, exe);
	assert_int_equal(map->perms, PROC_MAP_READ | PROC_MAP_EXEC);
	assert_true(map->ino > 1);
	map = map_at(c, (uint64_t)(uintptr_t)pattern);
	assert_string_equal(map->path, "");
	assert_int_equal(map->perms, PROC_MAP_READ | PROC_MAP_WRITE);
	assert_string_equal(map_at(c, local)->path, "[stack]");
}

static void kernels(void **state)
{
	char path[300];
	struct core c;
	glob_t found;
	int status;
	pid_t pid;
	char byte;

	(void)state;
	pid = start(SIGABRT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	if (!WCOREDUMP(status) || glob(in_dir("*core*"), 0, NULL, &found)) {
		print_message(
			"no core in the working directory: see /proc/sys/kernel/core_pattern\n");
		skip();
	}
	snprintf(path, sizeof(path), "%s", found.gl_pathv[0]);
	globfree(&found);
	assert_int_equal(core_open(path, &c, NULL), 0);
	assert_int_equal(c.signal, SIGABRT);
	assert_string_equal(c.comm, "a name (1 2)");
	assert_int_equal(c.threads.v[0].tid, pid);
	check(&c, pid);
	core_close(&c);
	core_close(&c);

	/* a mapped file that has been changed since is not what was mapped */
	assert_int_equal(
		utimensat(AT_FDCWD, in_dir("file"),
			  (struct timespec[2]){ { .tv_sec = 1ll << 32 }, { .tv_sec = 1ll << 32 } },
			  0),
		0);
	assert_int_equal(core_open(path, &c, NULL), 0);
	assert_int_equal(core_read(&c, (uint64_t)(uintptr_t)mapped + 5000, &byte, 1), 0);
	assert_int_equal(map_at(&c, (uint64_t)(uintptr_t)mapped)->ino, 1);
	core_close(&c);
	assert_int_equal(utimensat(AT_FDCWD, in_dir("file"),
				   (struct timespec[2]){ { .tv_sec = 1 }, { .tv_sec = 1 } }, 0),
			 0);

	/* cut short: what is left of it can be read */
	assert_int_equal(truncate(path, 40000), 0);
	assert_int_equal(core_open(path, &c, NULL), 0);
	assert_int_equal(core_read(&c, (uint64_t)(uintptr_t)pattern, &byte, 1), 0);
	core_close(&c);
	unlink(path);
}

static void debuggers(void **state)
{
	char command[512];
	struct core c;
	pid_t pid;

	(void)state;
#ifdef SANITIZED
	print_message("gdb would write all of AddressSanitizer's memory, terabytes\n");
	skip();
#endif
	if (system("command -v gdb >/dev/null")) {
		print_message("gdb is not installed\n");
		skip();
	}
	pid = start(0);
	snprintf(command, sizeof(command),
		 "timeout 100 gdb -nx -batch -p %d -ex 'generate-core-file %s' >/dev/null 2>&1",
		 (int)pid, in_dir("gdb.out"));
	if (system(command) || access(in_dir("gdb.out"), F_OK)) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		print_message("gdb cannot trace here\n");
		skip();
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(core_open(in_dir("gdb.out"), &c, NULL), 0);
	check(&c, pid);
	core_close(&c);
	unlink(in_dir("gdb.out"));
}

/* ---- damaged --------------------------------------------------------------------------------- */

struct image {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[4];
	Elf64_Shdr sh;
	Elf64_Nhdr note;
	char name[8];
	uint8_t status[336];
	Elf64_Nhdr more;		/* a note that is there when the segment is as long */
	char more_name[8];
	uint8_t more_text[sizeof(struct elf_prpsinfo)];
	uint8_t memory[64];
};

static struct image sound(void)
{
	struct image f = {
		.eh = { .e_ident = ELFMAG,
			.e_type = ET_CORE,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phnum = 3,
			.e_phoff = offsetof(struct image, ph),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_shoff = offsetof(struct image, sh) },
		.ph = { { .p_type = PT_NOTE,
			  .p_offset = offsetof(struct image, note),
			  .p_filesz = 12 + 8 + 336 },
			{ .p_type = PT_LOAD,
			  .p_flags = PF_R,
			  .p_vaddr = 0x1000,
			  .p_memsz = 4096,
			  .p_offset = offsetof(struct image, memory),
			  .p_filesz = 64 },
			{ .p_type = PT_LOAD,
			  .p_flags = PF_R | PF_W,
			  .p_vaddr = 0x2000,
			  .p_memsz = 64,
			  .p_offset = offsetof(struct image, memory),
			  .p_filesz = 64 } },
		.sh = { .sh_info = 3 },
		.note = { .n_namesz = 5, .n_descsz = 336, .n_type = NT_PRSTATUS },
		.name = "CORE",
		.memory = "some memory",
	};

	f.eh.e_ident[EI_CLASS] = ELFCLASS64;
	f.eh.e_ident[EI_DATA] = ELFDATA2LSB;
	f.status[32] = 77;	/* pr_pid */
	f.status[12] = 6;	/* pr_cursig */
	return f;
}

static int opens(const struct image *f, size_t bytes, struct core *c, struct err *e)
{
	FILE *out = fopen(in_dir("image"), "we");

	assert_non_null(out);
	assert_int_equal(fwrite(f, 1, bytes, out), bytes);
	fclose(out);
	return core_open(in_dir("image"), c, e);
}

static int damage(size_t offset, uint64_t value, size_t bytes)
{
	struct image f = sound();
	struct core c;
	int rc;

	memcpy((char *)&f + offset, &value, bytes);
	rc = opens(&f, sizeof(f), &c, NULL);
	core_close(&c);
	return rc;
}

#define DAMAGE(member, value)                                                                      \
	damage(offsetof(struct image, member), value, sizeof(((struct image *)0)->member))

/* With a note of a type beside the status. */
static struct image sound_with(uint32_t type, const void *text, uint32_t bytes)
{
	struct image f = sound();

	f.ph[0].p_filesz += sizeof(f.more) + sizeof(f.more_name) + (bytes + 3) / 4 * 4;
	f.more = (Elf64_Nhdr){ .n_namesz = 5, .n_descsz = bytes, .n_type = type };
	memcpy(f.more_name, "CORE", 5);
	memcpy(f.more_text, text, bytes);
	return f;
}

static void notes_say_who_died_of_what(void **state)
{
	const int32_t signal[2] = { SIGSEGV, 0 };
	struct elf_prpsinfo info = { .pr_pid = 4711 };
	struct image f;
	struct core c;

	(void)state;
	f = sound_with(NT_SIGINFO, signal, 8);
	assert_int_equal(opens(&f, sizeof(f), &c, NULL), 0);
	assert_int_equal(c.signal, SIGSEGV);
	assert_int_equal(c.pid, 77);
	core_close(&c);
	f = sound_with(NT_SIGINFO, signal, 3);			/* cut short */
	assert_int_equal(opens(&f, sizeof(f), &c, NULL), 0);
	assert_int_equal(c.signal, 6);
	core_close(&c);
	memset(info.pr_fname, 'n', sizeof(info.pr_fname));	/* without an end */
	f = sound_with(NT_PRPSINFO, &info, sizeof(info));
	assert_int_equal(opens(&f, sizeof(f), &c, NULL), 0);
	assert_int_equal(c.pid, 4711);
	assert_string_equal(c.comm, "nnnnnnnnnnnnnnnn");
	core_close(&c);
	f = sound_with(NT_PRPSINFO, &info, sizeof(info) - 1);
	assert_int_equal(opens(&f, sizeof(f), &c, NULL), 0);
	assert_int_equal(c.pid, 77);
	assert_string_equal(c.comm, "");
	core_close(&c);
}

static void made_up(void **state)
{
	struct image f = sound();
	struct core c;
	char to[300];

	(void)state;
	assert_int_equal(opens(&f, sizeof(f), &c, NULL), 0);
	assert_int_equal(c.pid, 77);
	assert_int_equal(c.signal, 6);
	assert_int_equal(c.threads.nr, 1);
	assert_int_equal(c.maps.nr, 2);
	assert_int_equal(core_read(&c, 0x1000, to, 300), 64);	/* the rest is in no file */
	assert_string_equal(to, "some memory");
	assert_int_equal(core_read(&c, 0x103f, to, 300), 1);
	assert_int_equal(core_read(&c, 0x1040, to, 300), 0);
	assert_int_equal(core_read(&c, 0x2000, to, 300), 64);
	assert_int_equal(core_read(&c, 0xfff, to, 300), 0);
	core_close(&c);

	f.eh.e_phnum = PN_XNUM;
	assert_int_equal(opens(&f, sizeof(f), &c, NULL), 0);
	assert_int_equal(c.maps.nr, 2);
	core_close(&c);

	/* one that begins in another one is dropped; two in a row are read as one */
	f = sound();
	f.ph[2].p_vaddr = 0x1800;
	assert_int_equal(opens(&f, sizeof(f), &c, NULL), 0);
	assert_int_equal(c.maps.nr, 1);
	core_close(&c);
	f = sound();
	f.ph[1].p_memsz = 64;
	f.ph[2].p_vaddr = 0x1040;
	assert_int_equal(opens(&f, sizeof(f), &c, NULL), 0);
	assert_int_equal(core_read(&c, 0x1001, to, 300), 127);
	core_close(&c);
}

static void damaged_ones(void **state)
{
	struct image f = sound();
	struct err e = { 0 };
	struct core c;

	(void)state;
	assert_int_equal(core_open("/nonexistent/core", &c, &e), -ENOENT);
	assert_string_equal(e.text, "cannot open '/nonexistent/core': No such file or directory");
	assert_int_equal(core_open("/dev/null", &c, &e), -EBADMSG);
	assert_int_equal(core_open("/proc/self/exe", &c, &e), -EBADMSG);
	assert_string_equal(e.text, "'/proc/self/exe' is no core file");
	assert_int_equal(DAMAGE(eh.e_machine, EM_AARCH64), -EPROTO);
	assert_int_equal(DAMAGE(eh.e_ident[EI_CLASS], ELFCLASS32), -EPROTO);
	assert_int_equal(DAMAGE(eh.e_phnum, 0), -EBADMSG);
	assert_int_equal(DAMAGE(eh.e_phnum, 60000), -EBADMSG);
	assert_int_equal(DAMAGE(eh.e_phoff, UINT64_MAX - 8), -EBADMSG);
	assert_int_equal(DAMAGE(eh.e_phentsize, 32), -EBADMSG);
	assert_int_equal(DAMAGE(ph[0].p_offset, UINT64_MAX - 8), -EBADMSG);	/* no threads */
	assert_int_equal(DAMAGE(note.n_descsz, UINT32_MAX), -EBADMSG);
	assert_int_equal(DAMAGE(note.n_namesz, UINT32_MAX), -EBADMSG);
	assert_int_equal(DAMAGE(ph[1].p_vaddr, UINT64_MAX - 8), 0);
	assert_int_equal(DAMAGE(ph[1].p_filesz, UINT64_MAX), 0);
	assert_int_equal(DAMAGE(ph[1].p_offset, UINT64_MAX - 8), 0);
	for (size_t bytes = 0; bytes < offsetof(struct image, status) + 336; bytes++)
		assert_int_equal(opens(&f, bytes, &c, NULL), -EBADMSG);
	memcpy(f.eh.e_ident, "\x28\xb5\x2f\xfd", 4);
	assert_int_equal(opens(&f, sizeof(f), &c, &e), -EBADMSG);
	assert_string_equal(e.hint,
			    "it is compressed: unpack it first, or have coredumpctl dump it");
}

/*
 * -----------------------------------------------------------------------------------------------
 */

static int prepare(void **state)
{
	uint8_t bytes[FILE_BYTES];
	int fd;

	(void)state;
	local = (uint64_t)(uintptr_t)&fd;
	pattern = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!mkdtemp(dir) || pattern == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < BYTES; i++)
		pattern[i] = (uint8_t)(i * 31 + i / 4093);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + i / 251);
	fd = open(in_dir("file"), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		return 1;
	mapped = mmap(NULL, sizeof(bytes), PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	return mapped == MAP_FAILED;
}

static int clean(void **state)
{
	(void)state;
	unlink(in_dir("file"));
	unlink(in_dir("image"));
	unlink(in_dir("gdb.out"));
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels),	cmocka_unit_test(debuggers),
		cmocka_unit_test(made_up),	cmocka_unit_test(notes_say_who_died_of_what),
		cmocka_unit_test(damaged_ones),
	};

	return cmocka_run_group_tests(tests, prepare, clean);
}
