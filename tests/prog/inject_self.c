/* SPDX-License-Identifier: GPL-2.0-or-later
 * A program that puts the injected agent into itself and calls its hooks as patched functions would: what they record is
 * known to the byte. inject_self AGENT SCENARIO; silent and status 0 when the ledger says what was done.
 */
#include "tests/prog/inject_self.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct host h;
const char *agent;

void *(*hooked_malloc)(size_t);
void *(*hooked_calloc)(size_t, size_t);
void *(*hooked_realloc)(void *, size_t);
void (*hooked_free)(void *, size_t, size_t);

void start(struct ledger_tree_options o)
{
	EXPECT(host_start(&h, agent, o), 0);
	hooked_malloc = host_entry(&h, PMM_ROLE_MALLOC, PMM_KIND_MALLOC, malloc, NULL);
	hooked_calloc = host_entry(&h, PMM_ROLE_CALLOC, PMM_KIND_CALLOC, calloc, NULL);
	hooked_realloc = host_entry(&h, PMM_ROLE_REALLOC, PMM_KIND_REALLOC, realloc, NULL);
	hooked_free = host_entry(&h, PMM_ROLE_FREE, 0, free, NULL);
}

void start_exact(void)
{
	start((struct ledger_tree_options){ 0 });
}

uint64_t calls(const struct heap *p, unsigned kind)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < HEAP_NR_CLASSES; i++)
		n += p->class[i].calls[kind];
	return n;
}

struct heap *expect(uint64_t allocs, uint64_t frees, uint64_t bytes_in, uint64_t bytes_out, const char *where, int line)
{
	struct heap *p = host_read(&h);

	host_expect("allocs", p->allocs, allocs, where, line);
	host_expect("frees", p->frees, frees, where, line);
	host_expect("bytes_in", p->bytes_in, bytes_in, where, line);
	host_expect("bytes_out", p->bytes_out, bytes_out, where, line);
	host_expect("nr_blocks", p->nr_blocks, allocs - frees, where, line);
	host_expect("live_bytes", p->live_bytes, bytes_in - bytes_out, where, line);
	host_expect("drift", p->drift_blocks, 0, where, line);
	for (unsigned i = 0; i < HEAP_NR_DROPS; i++)
		host_expect("dropped", p->dropped[i], 0, where, line);
	return p;
}

bool inside(uint64_t pc, const void *function)
{
	return pc > (uint64_t)function && pc < (uint64_t)function + 2000;
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*run)(void); } scenario[] = {
		{ "roles", roles }, { "failing", failing }, { "recursion", recursion }, { "thread_end", thread_end }, { "handlers", handlers },
		{ "custom", custom }, { "throwing", throwing }, { "sampled", sampled }, { "sampled_inner", sampled_inner },
		{ "gone", gone }, { "forked", forked }, { "again", again }, { "refused", refused },
		{ "threads", threads }, { "confined", confined }, { "bench", bench },
	};

	agent = argc > 1 ? argv[1] : "";
	for (unsigned i = 0; i < sizeof(scenario) / sizeof(scenario[0]); i++)
		if (argc > 2 && !strcmp(argv[2], scenario[i].name)) {
			scenario[i].run();
			return host_failed() ? 1 : 0;
		}
	fprintf(stderr, "usage: inject_self AGENT SCENARIO\n");
	return 2;
}
