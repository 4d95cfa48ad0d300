/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sources in the order of what they can show. */
#include "src/session/trace/trace_form.h"

#include <errno.h>
#include <string.h>

/* Not this process's trouble, but what it may do or the kernel can. */
bool trace_form_is_refused(int rc)
{
	return rc == -EPERM || rc == -EACCES || rc == -ENOTSUP || rc == -ENOSYS;
}

/* Given processes of one's own alone. */
static bool may_be_by_perf(const struct trace_options *o)
{
	return (o->command || o->kernel.nr_pids) && !o->kernel.memcg && !o->kernel.by_uid;
}

/* Both sentences, for they are two ways out. */
static void add_cause(struct err *e, const struct err *more)
{
	struct err first = *e;

	if (!strcmp(first.text, more->text))
		return;
	err_set(e, 0, "%s; %s", first.text, more->text);
	if (*first.hint || *more->hint)
		err_hint(e, "%s%s%s", first.hint, *first.hint && *more->hint ? "; or " : "",
			 more->hint);
}

/* Perf events can be had and show none of the events that were asked for. */
static void none_is_seen(const struct trace_options *o, struct err *e)
{
	struct err cause = *e;
	struct str names = STR_INIT;

	event_classes_names(&names, o->classes);
	err_set(e, 0, "%s cannot be seen: %s", str_text(&names), cause.text);
	if (*cause.hint)
		err_hint(e, "%s", cause.hint);
	str_fini(&names);
}

int trace_form_open(struct trace_session **out, const struct trace_options *o,
		    const struct session_sink *to, struct err *e)
{
	struct trace_options with = *o;
	struct err no_perf = { 0 };
	int rc;

	with.source = &bpf_source;
	rc = trace_session_open(out, &with, to, e);
	if (!trace_form_is_refused(rc) || !may_be_by_perf(o))
		return rc;
	with.source = &perf_source;
	with.why_source = e;
	rc = trace_session_open(out, &with, to, &no_perf);
	if (rc == -ENODATA && strstr(no_perf.text, KERNEL_NEEDS_PROGRAMS))
		none_is_seen(o, e);
	else if (trace_form_is_refused(rc))
		add_cause(e, &no_perf);
	else
		*e = no_perf;
	return rc;
}

static bool all_failed(const struct kernel_group_state *groups)
{
	for (int i = 0; i < KERNEL_NR_GROUPS; i++)
		if (groups[i].status != KERNEL_GROUP_FAILED)
			return false;
	return true;
}

/* What would help is what would help to have programs. */
static void take_groups(struct kernel_group_state *to, const struct kernel_group_state *from,
			const struct kernel_group_state *why)
{
	for (int i = 0; i < KERNEL_NR_GROUPS; i++) {
		to[i] = from[i];
		if (from[i].status > KERNEL_GROUP_WORKS && !*from[i].remedy)
			memcpy(to[i].remedy, why->remedy, sizeof(to[i].remedy));
	}
}

void trace_form_try(struct kernel_group_state *groups, struct trace_list_form *form)
{
	struct kernel_group_state by_perf[KERNEL_NR_GROUPS];

	*form = (struct trace_list_form){ .name = "bpf" };
	trace_session_try(&bpf_source, groups);
	if (!all_failed(groups))
		return;
	form->why = groups[0];
	trace_session_try(&perf_source, by_perf);
	form->name = all_failed(by_perf) ? "figures" : "perf";
	if (all_failed(by_perf))
		form->no_perf = by_perf[0];
	else
		take_groups(groups, by_perf, &form->why);
}

int trace_form_list(const struct session_sink *to)
{
	struct kernel_group_state groups[KERNEL_NR_GROUPS];
	struct trace_list_form form;
	struct doc d = { 0 };
	int rc;

	trace_form_try(groups, &form);
	trace_list_document(&d, groups, &form);
	rc = doc_error(&d);
	if (!rc)
		rc = session_document(to, &d, false);
	doc_fini(&d);
	return rc;
}
