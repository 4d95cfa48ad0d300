/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel module says of itself, of the processes that it monitors, and of what happens to
 * them, as documents and events.
 */
#ifndef VIEW_KMOD_KMOD_VIEW_H
#define VIEW_KMOD_KMOD_VIEW_H

#include <stddef.h>

#include "include/pmm/kmod.h"
#include "src/document/doc.h"
#include "src/document/event.h"

#define KMOD_STATUS_SCHEMA	"pmm-kmod-status/1.0"
#define KMOD_WATCH_SCHEMA	"pmm-kmod-watch/1.0"

/*
 * Add the configuration, what the logs lack, and a row for each process. The arguments must outlive
 * the document. doc_error() says whether all is there.
 */
void kmod_view_status(struct doc *d, const struct pmm_kmod_config *config,
		      const struct pmm_kmod_process *processes, size_t nr);

/* Fill in an event, whose strings must outlive it. event_fini(). */
void kmod_view_event(struct event *to, const struct pmm_kmod_event *e);

#endif
