/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a trace will not show, said before it begins. */
#include "src/session/trace/trace_lacks.h"

#include <errno.h>
#include <stdio.h>

#include "src/base/str.h"

/* Before anything else: this is less than it could be. */
static void say_source(const struct trace_options *o, const struct session_sink *to)
{
	const struct err *why = o->why_source;

	session_note(to, "by perf events, which see %s alone: %s%s%s",
		     o->scope ? o->scope : o->command[0], why->text,
		     *why->hint ? "; " : "", why->hint);
}

struct kernel_group_state trace_lacks_group(struct kernel_source *source,
					    const struct trace_options *o, enum kernel_group group)
{
	struct kernel_group_state state = kernel_source_group(source, group);

	if (o->why_source && state.status > KERNEL_GROUP_WORKS && !*state.remedy)
		snprintf(state.remedy, sizeof(state.remedy), "%.150s", o->why_source->hint);
	return state;
}

void trace_lacks_say(const struct event_lack *lack, bool remedy, const struct session_sink *to)
{
	struct str names = STR_INIT;

	event_classes_names(&names, lack->classes);
	session_warn(to, "not seen: %s: %s%s%s", str_text(&names), lack->state->why,
		     remedy ? "; " : "", remedy ? lack->state->remedy : "");
	str_fini(&names);
}

int trace_lacks_warn(struct kernel_source *source, const struct trace_options *o,
		     const struct session_sink *to, struct err *e)
{
	struct event_lack lack[EVENT_NR_CLASSES];
	struct kernel_group_state groups[KERNEL_NR_GROUPS];
	uint32_t left = o->classes;
	unsigned nr;

	for (int i = 0; i < KERNEL_NR_GROUPS; i++)
		groups[i] = trace_lacks_group(source, o, i);
	nr = event_classes_lacks(o->classes, groups, lack);
	for (unsigned i = 0; i < nr; i++)
		if (lack[i].status == KERNEL_GROUP_FAILED)
			left &= ~lack[i].classes;
	if (left && o->why_source && !o->quiet)
		say_source(o, to);
	for (unsigned i = 0; i < nr; i++) {
		const struct kernel_group_state *state = lack[i].state;
		struct str names = STR_INIT;

		if (lack[i].status != KERNEL_GROUP_FAILED)
			continue;
		event_classes_names(&names, lack[i].classes);
		if (!left)
			err_set(e, -ENODATA, "%s cannot be seen: %s", str_text(&names), state->why);
		else if (!o->quiet)
			trace_lacks_say(&lack[i], *state->remedy && !o->why_source, to);
		if (!left && *state->remedy)
			err_hint(e, "%s", state->remedy);
		str_fini(&names);
	}
	if (left && o->kernel.follow && !o->quiet && !kernel_source_by_process(source) &&
	    groups[KERNEL_LIFE].status > KERNEL_GROUP_WORKS)
		session_warn(to, "children may not be traced: %s", groups[KERNEL_LIFE].why);
	return left ? 0 : -ENODATA;
}
