/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resident sizes of processes; who has filled the page cache, with which files. */
#include <stdio.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/document/facts.h"
#include "src/view/trace/trace_line.h"
#include "src/view/trace/trace_sections.h"

/* "+1.00 MiB", "-4.00 KiB", "0 B". */
static struct fmt signed_bytes(int64_t bytes)
{
	struct fmt much = fmt_bytes(bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes), f;

	snprintf(f.s, sizeof(f.s), "%s%.40s", bytes < 0 ? "-" : bytes ? "+" : "", much.s);
	return f;
}

static void note_more(struct table *t, size_t rows, uint64_t top)
{
	if (t && top && rows > top)
		table_note(t, "%s (--top=0 shows all)", fmt_many(rows - top, "more row").s);
}

/* Why there are fewer events than what is summed up here. */
static void note_step(struct table *t, const struct trace_result *r, uint64_t step_bytes,
		      const char *of)
{
	if (t && t->rows.nr)
		table_note(t, "each page counts here; there is an event for each %s %s "
			      "(--min-size=BYTES)",
			   fmt_bytes(r->min_bytes ? r->min_bytes : step_bytes).s, of);
}

/* ---- rss ---- */

static const char *const kind_names[RSS_NR_KINDS] = {
	[RSS_FILE] = "file",
	[RSS_ANON] = "anonymous",
	[RSS_SWAP] = "swap",
	[RSS_SHMEM] = "shared",
};

void trace_describe_rss(struct str *text, struct event *e, const struct trace_record *r,
			const char *tail)
{
	const char *kind = r->a[0] < RSS_NR_KINDS ? kind_names[r->a[0]] : "unknown";

	(void)tail;
	event_text(e, "kind", kind);
	event_u64(e, "size_bytes", UNIT_BYTES, r->a[1]);
	event_u64(e, "change_bytes", UNIT_SIGNED, r->a[2]);
	str_addf(text, "%s, now %s %s", signed_bytes((int64_t)r->a[2]).s, fmt_bytes(r->a[1]).s,
		 kind);
}

static const struct column rss_columns[] = {
	{ "pid", "pid", UNIT_NUMBER },
	{ "resident_bytes", "resident", UNIT_BYTES },
	TEXT_COLUMN("changed by", UNIT_TEXT),
	JSON_COLUMN("change_bytes", UNIT_SIGNED),
	{ "peak_bytes", "peak", UNIT_BYTES },
	{ "file_bytes", "file", UNIT_BYTES, COLUMN_ZERO_BLANK },
	{ "anonymous_bytes", "anonymous", UNIT_BYTES, COLUMN_ZERO_BLANK },
	{ "shared_bytes", "shared", UNIT_BYTES, COLUMN_ZERO_BLANK },
	{ "swap_bytes", "swap", UNIT_BYTES, COLUMN_ZERO_BLANK },
	JSON_COLUMN("first_file_bytes", UNIT_BYTES),
	JSON_COLUMN("first_anonymous_bytes", UNIT_BYTES),
	JSON_COLUMN("first_shared_bytes", UNIT_BYTES),
	JSON_COLUMN("first_swap_bytes", UNIT_BYTES),
	{ "changes", "changes", UNIT_COUNT },
	{ "command", "command", UNIT_TEXT, COLUMN_LABEL },
};

struct process {
	uint32_t pid;
	const struct rss_process *p;
	uint64_t now, first;		/* resident bytes */
};

static uint64_t resident(const __u64 kinds[RSS_NR_KINDS])
{
	return kinds[RSS_FILE] + kinds[RSS_ANON] + kinds[RSS_SHMEM];
}

static uint64_t change_of(const struct process *p)
{
	return p->now > p->first ? p->now - p->first : p->first - p->now;
}

static int by_change(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	if (change_of(x) != change_of(y))
		return change_of(x) < change_of(y) ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static void set_process(struct table *t, const struct process *p)
{
	static const enum rss_kind order[] = { RSS_FILE, RSS_ANON, RSS_SHMEM, RSS_SWAP };
	int64_t change = (int64_t)(p->now - p->first);

	table_row(t, 0, ROW_PLAIN, ROW_BOTH);
	table_set(t, 0, p->pid);
	table_set(t, 1, p->now);
	table_set_text(t, 2, signed_bytes(change).s);
	table_set(t, 3, (uint64_t)change);
	table_set(t, 4, p->p->peak);
	for (unsigned i = 0; i < RSS_NR_KINDS; i++) {
		table_set(t, 5 + i, p->p->now[order[i]]);
		table_set(t, 9 + i, p->p->first[order[i]]);
	}
	table_set(t, 13, p->p->changes);
	table_setf(t, 14, "%.*s", TRACE_COMM_BYTES, p->p->comm);
}

void trace_section_rss(struct doc *d, const struct trace_result *t)
{
	const struct kernel_rows *rows = &t->rows[KERNEL_TABLE_RSS];
	struct table *table = table_new(TABLE_ROWS, "resident",
					"Resident size, as of the last change (changed since the first "
					"one seen)", rss_columns,
					sizeof(rss_columns) / sizeof(*rss_columns));
	VEC(struct process) v = { 0 };
	uint64_t shown = 0;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct rss_process *p = kernel_rows_value(rows, i);

		if (vec_push(&v, (struct process){ *(const uint32_t *)kernel_rows_key(rows, i), p,
						   resident(p->now), resident(p->first) }) && table)
			table->failed = true;
	}
	vec_sort(&v, by_change);
	vec_each(&v, p) {
		if (!table || (t->top && shown++ == t->top))
			break;
		set_process(table, p);
	}
	note_more(table, v.nr, t->top);
	note_step(table, t, RSS_STEP_BYTES, "by which a kind of a process has changed");
	vec_fini(&v);
	doc_add(d, table);
}

/* ---- cache ---- */

/* "passwd/etc" is "/etc/passwd". */
static void add_forward(struct str *s, const char *name, size_t bytes)
{
	size_t end = strnlen(name, bytes);

	while (end) {
		size_t begin = end;

		while (begin && name[begin - 1] != '/')
			begin--;
		str_addc(s, '/');
		str_addn(s, name + begin, end - begin);
		end = begin ? begin - 1 : 0;
	}
}

/* Of a file: where it is mounted, or below its file system, or its numbers. */
static void add_path(struct str *s, const struct mounts *mounts, uint32_t device, uint64_t inode,
		     const char *name)
{
	struct str path = STR_INIT;

	add_forward(&path, name, CACHE_NAME_BYTES);
	if (!inode)
		str_addf(s, "(block device %u:%u itself: what the file system is made of)",
			 device >> 20, device & 0xfffff);
	else if (!*str_text(&path))
		str_addf(s, "(no name: inode %llu of device %u:%u)", (unsigned long long)inode,
			 device >> 20, device & 0xfffff);
	else if (!mounts || !mounts_path(mounts, device, str_text(&path), s)) {
		if (!mounts)
			str_add(s, str_text(&path));
		str_addf(s, " (of device %u:%u)", device >> 20, device & 0xfffff);
	}
	s->failed |= str_error(&path) != 0;
	str_fini(&path);
}

void trace_describe_cache(struct str *text, struct event *e, const struct trace_record *r,
			  const char *tail)
{
	struct str path = STR_INIT, device = STR_INIT;

	str_addf(&device, "%u:%u", (uint32_t)r->a[0] >> 20, (uint32_t)r->a[0] & 0xfffff);
	add_forward(&path, tail, CACHE_NAME_BYTES);
	event_text(e, "device", str_text(&device));
	event_u64(e, "inode", UNIT_NUMBER, r->a[1]);
	event_u64(e, "size_bytes", UNIT_BYTES, r->a[2]);
	event_u64(e, "total_bytes", UNIT_BYTES, r->a[3]);
	if (*str_text(&path))
		event_text(e, "file", str_text(&path));
	str_clear(&path);
	add_path(&path, NULL, (uint32_t)r->a[0], r->a[1], tail);
	str_addf(text, "%s, in all %s, of %s", fmt_bytes(r->a[2]).s, fmt_bytes(r->a[3]).s,
		 str_text(&path));
	e->failed |= str_error(&path) || str_error(&device);
	str_fini(&path);
	str_fini(&device);
}

static const struct column file_columns[] = {
	{ "added_bytes", "added", UNIT_BYTES },
	{ "removed_bytes", "removed", UNIT_BYTES, COLUMN_ZERO_BLANK },
	TEXT_COLUMN("change", UNIT_TEXT),
	JSON_COLUMN("change_bytes", UNIT_SIGNED),
	JSON_COLUMN("device", UNIT_TEXT),
	JSON_COLUMN("inode", UNIT_NUMBER),
	{ "file", "file", UNIT_TEXT, COLUMN_LABEL },
};

struct file {
	const struct cache_file_key *key;
	const struct cache_file *f;
};

static int files_by_added(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	if (x->f->added != y->f->added)
		return x->f->added < y->f->added ? 1 : -1;
	return x->key->inode < y->key->inode ? -1 : x->key->inode > y->key->inode;
}

static void set_change(struct table *t, unsigned column, uint64_t added, uint64_t removed)
{
	int64_t change = (int64_t)(added - removed);

	table_set(t, column, added);
	table_set(t, column + 1, removed);
	table_set_text(t, column + 2, signed_bytes(change).s);
	table_set(t, column + 3, (uint64_t)change);
}

static const char not_seen[] = "tmpfs and shared memory, because the kernel does not say when it "
			       "adds their pages";

static void say_nothing(struct doc *d)
{
	struct table *facts = facts_new("Page cache");

	facts_add(facts, "files", "no page was added or removed");
	facts_add(facts, "not seen", "%s", not_seen);
	doc_add(d, facts);
}

static void add_files(struct doc *d, const struct trace_result *t)
{
	const struct kernel_rows *rows = &t->rows[KERNEL_TABLE_CACHE_FILES];
	struct table *table = table_new(TABLE_ROWS, "cache_files", "Page cache, by file",
					file_columns, sizeof(file_columns) / sizeof(*file_columns));
	VEC(struct file) v = { 0 };
	struct str path = STR_INIT;
	uint64_t shown = 0;

	for (size_t i = 0; i < rows->nr; i++)
		if (vec_push(&v, (struct file){ kernel_rows_key(rows, i),
						kernel_rows_value(rows, i) }) && table)
			table->failed = true;
	vec_sort(&v, files_by_added);
	vec_each(&v, file) {
		if (!table || (t->top && shown++ == t->top))
			break;
		str_clear(&path);
		add_path(&path, t->mounts, file->key->device, file->key->inode, file->f->name);
		table_row(table, 0, ROW_PLAIN, ROW_BOTH);
		set_change(table, 0, file->f->added, file->f->removed);
		table_setf(table, 4, "%u:%u", file->key->device >> 20,
			   file->key->device & 0xfffff);
		table_set(table, 5, file->key->inode);
		table_set_text(table, 6, table_text(table, &path));
	}
	note_more(table, v.nr, t->top);
	note_step(table, t, CACHE_STEP_BYTES, "of a file that a process adds");
	if (table && v.nr)
		table_note(table, "not seen: %s", not_seen);
	vec_fini(&v);
	str_fini(&path);
	doc_add(d, table);
}

static const struct column user_columns[] = {
	{ "pid", "pid", UNIT_NUMBER },
	{ "added_bytes", "added", UNIT_BYTES },
	{ "removed_bytes", "removed", UNIT_BYTES, COLUMN_ZERO_BLANK },
	TEXT_COLUMN("change", UNIT_TEXT),
	JSON_COLUMN("change_bytes", UNIT_SIGNED),
	{ "files", "files", UNIT_COUNT },
	{ "command", "command", UNIT_TEXT, COLUMN_LABEL },
};

struct user {
	uint32_t pid;
	uint64_t added, removed, files;
	const char *comm;
};

static int users_by_added(const void *a, const void *b)
{
	const struct user *x = a, *y = b;

	if (x->added != y->added)
		return x->added < y->added ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int users_by_pid(const void *a, const void *b)
{
	const struct user *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static size_t sum_up(struct user *v, size_t nr)
{
	size_t kept = 0;

	vec_qsort(v, nr, sizeof(*v), users_by_pid);
	for (size_t i = 0; i < nr; i++) {
		if (!kept || v[kept - 1].pid != v[i].pid) {
			v[kept++] = v[i];
			continue;
		}
		v[kept - 1].added += v[i].added;
		v[kept - 1].removed += v[i].removed;
		v[kept - 1].files += v[i].files;
	}
	return kept;
}

static void add_users(struct doc *d, const struct trace_result *t)
{
	const struct kernel_rows *rows = &t->rows[KERNEL_TABLE_CACHE_USERS];
	struct table *table = table_new(TABLE_ROWS, "cache_processes", "Page cache, by process",
					user_columns, sizeof(user_columns) / sizeof(*user_columns));
	VEC(struct user) v = { 0 };
	uint64_t shown = 0;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct cache_user_key *key = kernel_rows_key(rows, i);
		const struct cache_user *u = kernel_rows_value(rows, i);

		if (vec_push(&v, (struct user){ key->tgid, u->added, u->removed, 1, u->comm }) &&
		    table)
			table->failed = true;
	}
	v.nr = sum_up(v.v, v.nr);
	vec_sort(&v, users_by_added);
	vec_each(&v, user) {
		if (!table || (t->top && shown++ == t->top))
			break;
		table_row(table, 0, ROW_PLAIN, ROW_BOTH);
		table_set(table, 0, user->pid);
		set_change(table, 1, user->added, user->removed);
		table_set(table, 5, user->files);
		table_setf(table, 6, "%.*s", TRACE_COMM_BYTES, user->comm);
	}
	note_more(table, v.nr, t->top);
	vec_fini(&v);
	doc_add(d, table);
}

void trace_section_cache(struct doc *d, const struct trace_result *t)
{
	if (!t->rows[KERNEL_TABLE_CACHE_FILES].nr)
		say_nothing(d);
	add_files(d, t);
	add_users(d, t);
}
