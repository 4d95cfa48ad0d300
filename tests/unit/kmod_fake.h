/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel module that is none: it answers the calls of /dev/pmm out of arrays, and is as strict
 * about what it is given as include/pmm/kmod.h says.
 */
#ifndef TESTS_UNIT_KMOD_FAKE_H
#define TESTS_UNIT_KMOD_FAKE_H

#include "src/kmod/kmod_device.h"

struct kmod_fake {
	struct kmod_device device;
	struct pmm_kmod_config config;
	struct pmm_kmod_process *processes;
	uint32_t nr_processes;
	uint32_t more_each_time;	/* processes that appear between two calls */
	struct pmm_kmod_record *records;
	uint32_t nr_records, at;
	bool endless;			/* the log has all records again and again */
	struct pmm_kmod_event *events;
	size_t event_bytes;
	int fail;			/* all calls answer with this -errno; 0: none does */
	unsigned calls;
	int32_t started, stopped;
};

/* Ready for calls; what it answers is the caller's to set. */
void kmod_fake_init(struct kmod_fake *f);

#endif
