/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of source files in a page: those that frames name, and some around them. What names a file
 * is debug information, which may be hostile: only regular files that are called as source files
 * are, and of these only such lines, are read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/json.h"
#include "src/base/str.h"
#include "src/page/page_priv.h"

#define AROUND		20u	   /* lines before and behind one that a frame names */
#define MAX_FILE_BYTES	(4u << 20)
#define MAX_ALL_BYTES	(16u << 20)
#define MAX_FILES	1000u

struct place {
	const char *file;	/* the profile's: equal texts have equal pointers */
	uint32_t line;
};

struct writing {
	struct json j;
	uint64_t left_bytes;
	unsigned nr_files;
};

static const char *const endings[] = {
	".c",	".h",  ".cc",  ".hh",  ".cpp", ".hpp", ".cxx", ".hxx", ".c++", ".C",  ".H", ".inc",
	".ipp", ".tcc", ".rs", ".go",  ".zig", ".d",   ".nim", ".f",   ".f90", ".m",  ".mm", ".S",
	".s",	".adb", ".ads", ".pas", ".ml", ".v",   ".y",   ".l",   ".pyx",
};

static bool is_source(const char *file)
{
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		if (str_ends(file, endings[i]))
			return file[0] == '/';
	return false;
}

/* By file, then line. */
static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = x->file == y->file ? 0 : strcmp(x->file, y->file);

	return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

/* NULL with the reason. */
static FILE *open_source(const char *file, const char **why)
{
	int fd = is_source(file) ? open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	struct stat st;
	FILE *f = NULL;

	if (!is_source(file))
		*why = "its name is not that of a source file";
	else if (fd < 0)
		*why = strerror(errno);
	else if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		*why = "it is no regular file";
	else if (st.st_size > MAX_FILE_BYTES)
		*why = "it is too large";
	else
		f = fdopen(fd, "r");
	if (!f && fd >= 0)
		close(fd);
	if (!f && !*why)
		*why = "not enough memory";
	return f;
}

/* The lines that places[0..nr) name, and those around them: runs of [first line, texts ...]. */
static void put_lines(struct writing *w, FILE *f, const struct place *place, size_t nr)
{
	uint64_t read_bytes = 0;
	char *text = NULL;
	size_t room = 0, i = 0;
	bool open = false;
	ssize_t length;

	json_array(&w->j, "runs");
	for (uint32_t line = 1; i < nr && (length = getline(&text, &room, f)) > 0; line++) {
		read_bytes += (uint64_t)length;
		if (read_bytes > MAX_FILE_BYTES)
			break;	/* it grew */
		while (i < nr && (uint64_t)place[i].line + AROUND < line)
			i++;
		if (i == nr || line + AROUND < place[i].line || (uint64_t)length > w->left_bytes) {
			if (open)
				json_end(&w->j);
			open = false;
			continue;
		}
		if (!open) {
			json_array_flat(&w->j, NULL);
			json_u64(&w->j, NULL, line);
		}
		open = true;
		w->left_bytes -= (uint64_t)length;
		json_strn(&w->j, NULL, text, (size_t)length - (text[length - 1] == '\n'));
	}
	if (open)
		json_end(&w->j);
	json_end(&w->j);
	free(text);
}

static void put_file(struct writing *w, struct page_stacks *k, const struct place *place, size_t nr)
{
	int64_t number = intern_add(&k->strings, place->file);
	const char *why = NULL;
	FILE *f;

	if (number < 0)
		return;	/* it was entered before: there is memory for it */
	json_object(&w->j, NULL);
	json_u64(&w->j, "file", (uint64_t)number);
	f = ++w->nr_files > MAX_FILES || !w->left_bytes ? NULL : open_source(place->file, &why);
	if (f) {
		put_lines(w, f, place, nr);
		fclose(f);
	} else {
		json_str(&w->j, "why", why ? why : "the page has so many already");
	}
	json_end(&w->j);
}

static struct place *collect(const struct profile *p, size_t *nr)
{
	struct place *out = calloc(p->frames.nr + 1, sizeof(*out));

	*nr = 0;
	for (size_t i = 1; out && i < p->frames.nr; i++)
		if (p->frames.v[i].file && p->frames.v[i].file[0] && p->frames.v[i].line)
			out[(*nr)++] = (struct place){ p->frames.v[i].file, p->frames.v[i].line };
	if (out)
		qsort(out, *nr, sizeof(*out), by_place);
	return out;
}

void page_put_lines(struct page *p, struct page_stacks *k)
{
	struct writing w = { .left_bytes = MAX_ALL_BYTES };
	size_t nr = 0, end;
	struct place *place = collect(k->profile, &nr);
	FILE *f;

	if (!place && !p->rc)
		p->rc = -ENOMEM;
	f = page_part(p, "source");
	if (f) {
		json_init(&w.j, f);
		json_array(&w.j, NULL);
		for (size_t i = 0; i < nr; i = end) {
			for (end = i; end < nr && !strcmp(place[end].file, place[i].file);)
				end++;
			put_file(&w, k, place + i, end - i);
		}
		json_end(&w.j);
		if (json_finish(&w.j) && !p->rc)
			p->rc = -EIO;
		page_part_end(p, f);
	}
	free(place);
}
