/* SPDX-License-Identifier: MIT */
/*
 * The full form's log to the kernel module: the program's copy of the form has the ring (kmod.c),
 * and copies that libraries bring along hand their records on to it. Records of one address in two
 * rings would be read in any order.
 */
typedef char kmod_states_agree[FULL_KMOD_ASK == KMOD_UNTRIED ? 1 : -1];

static uint32_t full_text_hash(const struct at *at)
{
	uint32_t hash = 2166136261u;
	const char *text;

	for (text = at->file; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	for (text = at->func; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return hash | 1;
}

/* Texts of a library may go with it, others coming in their place. 0: they last. */
HOT uint32_t full_text(const struct at *at)
{
	return (uintptr_t)at->file - full_texts_at < full_texts_bytes &&
			       (uintptr_t)at->func - full_texts_at < full_texts_bytes
		       ? 0
		       : full_text_hash(at);
}

HOT struct at at_of(const struct full_call *call)
{
	struct at at;

	at.file = call->file;
	at.func = call->func;
	at.line = call->line;
	at.caller = call->ra ? (const char *)(uintptr_t)call->ra - 1 : NULL;
	return at;
}

COLD int full_log_there(const struct at *at, unsigned kind, const void *p, size_t size,
			      const void *prev, unsigned flags)
{
	struct full_call call;

	if (!monitor.started)
		begin_full();
	if (!monitor.started) {		/* a handler that interrupted it */
		__atomic_fetch_add(&kmod.missed, 1, __ATOMIC_RELAXED);
		return 1;
	}
	if (!monitor.program)
		return 0;	/* it has begun just now */
	call.file = at->file;
	call.func = at->func;
	call.line = at->line;
	call.ra = at->caller ? (uint64_t)(uintptr_t)at->caller + 1 : 0;
	call.sp = call.fp = 0;
	monitor.program->log(&call, kind, p, size, prev, flags);
	return 1;
}

HOT int full_log_elsewhere(const struct at *at, unsigned kind, const void *p, size_t size,
			   const void *prev, unsigned flags)
{
	return (!monitor.started || monitor.program) &&
	       full_log_there(at, kind, p, size, prev, flags);
}

void full_log(const struct full_call *call, unsigned kind, const void *p, size_t size,
	      const void *prev, unsigned flags)
{
	const struct at at = at_of(call);

	kmod_write(&at, kind, p, size, prev, flags);
}

int full_log_switch(int on)
{
	if (on >= 0 && !monitor.started)
		begin_full();
	return monitor.program ? monitor.program->log_switch(on) : kmod_switch(on);
}

void full_log_new(const struct full_call *call, char entry, void *p, size_t size)
{
	const struct at at = at_of(call);

	kmod_new(&at, entry, p, size);
}

void full_log_free(const struct full_call *call, const void *p)
{
	const struct at at = at_of(call);

	kmod_free(&at, p);
}
