/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which classes of events have a section. */
#include "src/view/trace/trace_sections.h"

trace_section *const trace_sections[EVENT_NR_CLASSES] = {
	[EVENT_MMAP] = NULL,
};
