/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: what is written to /proc/pmm/cfg.
 *
 * What is refused changes nothing; what is taken is in range, and is taken again when it is written
 * as the kernel would print it.
 */
#include <stdlib.h>

#include "kmod/pmm_parse.h"

static int print(const struct pmm_kmod_config *c, char *text, size_t bytes)
{
	switch (c->set) {
	case PMM_KMOD_SET_INTERVAL:
		return snprintf(text, bytes, "INTERVAL %u\n", c->interval_ms);
	case PMM_KMOD_SET_SCAN:
		return snprintf(text, bytes, "SCAN %u\n", c->scan);
	case PMM_KMOD_SET_START:
		return snprintf(text, bytes, "START_PID %d\n", c->start_pid);
	case PMM_KMOD_SET_STOP:
		return snprintf(text, bytes, "STOP_PID %d\n", c->stop_pid);
	default:
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pmm_kmod_config config, before, again;
	char text[64];
	int n;

	memset(&config, 0x5a, sizeof(config));
	before = config;
	if (pmm_parse_cfg((const char *)data, size, &config)) {
		if (memcmp(&config, &before, sizeof(config)))
			abort();
		return 0;
	}
	if (pmm_config_check(&config))
		abort();
	n = print(&config, text, sizeof(text));
	if (pmm_parse_cfg(text, (size_t)n, &again) || memcmp(&config, &again, sizeof(config)))
		abort();
	return 0;
}
