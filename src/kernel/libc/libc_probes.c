/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes of a C library, and which libraries processes have mapped. */
#include "src/kernel/libc/libc_probes.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bpf/trace_abi.h"
#include "src/proc/elffile.h"
#include "src/proc/proc.h"

#define PROVIDER	"libc"
#define NOTE_SDT	3	/* NT_STAPSDT, sys/sdt.h */

const struct libc_probe libc_probes[LIBC_NR_PROBES] = {
	{ "memory_sbrk_more", TRACE_LIBC_SBRK_MORE },
	{ "memory_sbrk_less", TRACE_LIBC_SBRK_LESS },
	{ "memory_heap_new", TRACE_LIBC_HEAP_NEW },
	{ "memory_heap_more", TRACE_LIBC_HEAP_MORE },
	{ "memory_heap_less", TRACE_LIBC_HEAP_LESS },
	{ "memory_heap_free", TRACE_LIBC_HEAP_FREE },
	{ "memory_arena_new", TRACE_LIBC_ARENA_NEW },
	{ "memory_arena_reuse", TRACE_LIBC_ARENA_REUSE },
	{ "memory_arena_reuse_free_list", TRACE_LIBC_ARENA_FREE_LIST },
	{ "memory_arena_reuse_wait", TRACE_LIBC_ARENA_WAIT },
	{ "memory_arena_retry", TRACE_LIBC_ARENA_RETRY },
	{ "memory_malloc_retry", TRACE_LIBC_RETRY },
	{ "memory_calloc_retry", TRACE_LIBC_RETRY },
	{ "memory_realloc_retry", TRACE_LIBC_RETRY },
	{ "memory_memalign_retry", TRACE_LIBC_RETRY },
	{ "memory_mallopt", TRACE_LIBC_MALLOPT },
	{ "memory_mallopt_mxfast", TRACE_LIBC_MALLOPT },
	{ "memory_mallopt_trim_threshold", TRACE_LIBC_MALLOPT },
	{ "memory_mallopt_top_pad", TRACE_LIBC_MALLOPT },
	{ "memory_mallopt_mmap_threshold", TRACE_LIBC_MALLOPT },
	{ "memory_mallopt_mmap_max", TRACE_LIBC_MALLOPT },
	{ "memory_mallopt_check_action", TRACE_LIBC_MALLOPT },
	{ "memory_mallopt_perturb", TRACE_LIBC_MALLOPT },
	{ "memory_mallopt_arena_test", TRACE_LIBC_MALLOPT },
	{ "memory_mallopt_arena_max", TRACE_LIBC_MALLOPT },
	{ "memory_mallopt_free_dyn_thresholds", TRACE_LIBC_MALLOPT },
	{ "memory_tunable_tcache_max_bytes", TRACE_LIBC_MALLOPT },
	{ "memory_tunable_tcache_count", TRACE_LIBC_MALLOPT },
	{ "memory_tunable_tcache_unsorted_limit", TRACE_LIBC_MALLOPT },
	{ "memory_tcache_double_free", TRACE_LIBC_DOUBLE_FREE },
};

static bool is_known(const char *name)
{
	for (unsigned i = 0; i < LIBC_NR_PROBES; i++)
		if (!strcmp(libc_probes[i].name, name))
			return true;
	return false;
}

/* Three addresses, then the provider, the probe and its arguments, each with a NUL. */
static bool is_probe(const char *bytes, size_t nr)
{
	size_t at = 3 * sizeof(uint64_t), provider;

	if (nr < at || memchr(bytes + at, 0, nr - at) == NULL)
		return false;
	provider = at;
	at += strlen(bytes + at) + 1;
	return at < nr && memchr(bytes + at, 0, nr - at) && !strcmp(bytes + provider, PROVIDER) &&
	       is_known(bytes + at);
}

static unsigned count_probes(const struct elf_file *f)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section(f, ".note.stapsdt", SHT_NOTE, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t at = 0, next, name, desc;
	unsigned nr = 0;
	GElf_Nhdr note;

	while (data && (next = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
		const char *bytes = data->d_buf;

		if (note.n_type == NOTE_SDT && note.n_namesz == sizeof("stapsdt") &&
		    !strcmp(bytes + name, "stapsdt") && is_probe(bytes + desc, note.n_descsz))
			nr++;
		at = next;
	}
	return nr;
}

static void look(struct libc_file *file)
{
	struct elf_file f = { 0 };

	file->state = LIBC_UNREADABLE;
	if (elf_file_open(&f, file->path))
		return;
	file->nr_probes = count_probes(&f);
	file->state = gelf_getclass(f.elf) == ELFCLASS32 ? LIBC_IS_32BIT
		    : file->nr_probes			 ? LIBC_HAS_PROBES : LIBC_HAS_NONE;
	elf_file_close(&f);
}

int libc_files_add(struct libc_files *f, const char *path, const char *name)
{
	struct libc_file file = { 0 };
	struct stat st;

	if (stat(path, &st))
		memset(&st, 0, sizeof(st));
	vec_each(&f->v, known)
		if ((st.st_ino && known->inode == st.st_ino && known->device == st.st_dev) ||
		    !strcmp(known->path, path))
			return 0;
	if (f->v.nr == LIBC_MAX_FILES) {
		f->left_out++;
		return 0;
	}
	file.device = st.st_dev;
	file.inode = st.st_ino;
	file.path = strdup(path);
	file.name = strdup(name);
	if (file.path && file.name) {
		look(&file);
		if (!vec_push(&f->v, file))
			return 0;
	}
	free(file.path);
	free(file.name);
	return -ENOMEM;
}

bool libc_is_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && (!strcmp(slash, "/libc.so.6") || !fnmatch("/libc-2.*.so", slash, 0));
}

int libc_files_of(struct libc_files *f, pid_t pid)
{
	struct proc_maps maps;
	struct err e = { 0 };
	bool any = false;
	int rc = proc_maps_read(pid, &maps, &e);

	if (rc)
		return rc == -ENOMEM ? rc : 0;
	for (size_t i = 0; !rc && i < maps.nr; i++) {
		char path[4096];

		if (!(maps.v[i].perms & PROC_MAP_EXEC) || !libc_is_name(maps.v[i].path))
			continue;
		any = true;
		snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, maps.v[i].path);
		rc = libc_files_add(f, path, maps.v[i].path);
	}
	f->without += !any && maps.nr;
	proc_maps_fini(&maps);
	return rc;
}

int libc_files_all(struct libc_files *f)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int rc = 0;

	while (proc && !rc && (entry = readdir(proc))) {
		pid_t pid = proc_parse_pid(entry->d_name);

		if (pid)
			rc = libc_files_of(f, pid);
	}
	if (proc)
		closedir(proc);
	return rc;
}

const char *libc_state_text(enum libc_state state)
{
	static const char *const text[LIBC_NR_STATES] = {
		[LIBC_HAS_PROBES] = "has probes",
		[LIBC_HAS_NONE] = "has no probes (.note.stapsdt)",
		[LIBC_IS_32BIT] = "is a 32-bit library",
		[LIBC_UNREADABLE] = "cannot be read",
	};

	return text[state];
}

void libc_files_why_none(const struct libc_files *f, char *text, size_t bytes)
{
	const struct libc_file *file = f && f->v.nr ? &f->v.v[0] : NULL;

	if (file)
		snprintf(text, bytes, "%.90s %s", file->name, libc_state_text(file->state));
	else
		snprintf(text, bytes, "no process maps a libc.so.6");
}

unsigned libc_files_probed(const struct libc_files *f)
{
	unsigned nr = 0;

	vec_each(&f->v, file)
		nr += file->state == LIBC_HAS_PROBES;
	return nr;
}

void libc_files_fini(struct libc_files *f)
{
	vec_each(&f->v, file) {
		free(file->path);
		free(file->name);
	}
	vec_fini(&f->v);
	*f = (struct libc_files){ 0 };
}
