/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent/ctx.c: forked children get a ledger and contexts of their own, once, or are left alone.
 */
#include "tests/unit/test_child.h"
#include "tests/unit/ctx_host.h"

#include "agent/record.h"
#include "agent/segment.h"

static struct pmm_ledger *parents;

static int file_of_memory(void)
{
	return segment_map(-1, 4096 + SLOT_BYTES);
}

static void child_gets_a_ledger(void)
{
	struct tctx *c = ctx_find();

	MUST(c);
	MUST(agent.pid == getpid());
	MUST(agent.ledger != parents);
	MUST(agent.ledger->forked == 1);
	MUST(agent.ledger->pid == (uint32_t)getpid());
	MUST(agent.ledger->nr_ctx == 1 && agent.ledger->nr_threads == 1);
	MUST(pmm_ctx_sums(&c->pub).allocs == 0 && c->tid == own_tid());
	MUST(*agent.alive == 2 && agent.generation == 2);
	MUST(agent.state == AGENT_ON);
	MUST(agent_host_form.published == 1 && !agent_host_form.new_image && !agent_host_form.lost);
	MUST(agent.nr_modules == 0 && agent.module_lock == 0 && !agent.module_reading);
	MUST(ctx_find() == c);
	MUST(ctx_find_slow(thread(3, own_tid())) != NULL);
	/* what the hash of the parent had is not there */
	MUST(agent.ledger->nr_ctx == 2);
	MUST(sample_pages[5] == 0);
}

static void child_is_not_followed(void)
{
	MUST(ctx_find() == NULL);
	MUST(agent.state == AGENT_OFF);
	MUST(!agent.ledger && !agent.base && !agent.file && !agent.slot);
	MUST(agent_host_form.files == 0 && agent_host_form.lost == 0);
	MUST(ctx_find() == NULL);
}

static void child_gets_no_file(void)
{
	MUST(ctx_find() == NULL);
	MUST(agent.state == AGENT_OFF);
	MUST(agent_host_form.files == 1 && agent_host_form.lost == 1);
	MUST(!agent.ledger);
}

/* A handler interrupts the one that is at it: it is not waited for. */
static void child_is_being_begun(void)
{
	STORE(agent.alive[1], own_tid());
	MUST(ctx_find() == NULL);
	MUST(agent.state == AGENT_ON);
	STORE(*agent.alive, 2);				/* done */
	STORE(agent.alive[1], own_tid() + 1);
	agent.ledger = parents;
	MUST(ctx_find() != NULL);
}

/* ... and another thread is, as long as it may need. */
static void *begins_late(void *arg)
{
	(void)arg;
	usleep(1000);
	STORE_RELEASE(*agent.alive, 2);
	return NULL;
}

static void child_waits_for_another_thread(void)
{
	pthread_t t;

	STORE(agent.alive[1], own_tid() + 1);
	MUST(!pthread_create(&t, NULL, begins_late, NULL));
	MUST(ctx_find() != NULL);
	MUST(*agent.alive == 2);
	pthread_join(t, NULL);
}

static void prepare(uint32_t flags, int (*file)(void))
{
	agent.tid_offset = 0;
	assert_non_null(ctx_find());
	ctx_find()->pub.class[0].calls[PMM_KIND_MALLOC] = 9;
	ctx_of(3, own_tid());
	parents = agent.ledger;
	*tree() = (struct pmm_tree){ .flags = flags,
				     .slot_bytes = SLOT_BYTES,
				     .slots_off = 4096,
				     .limit_bytes = 1ull << 40,
				     .max_frames = 16 };
	agent.follow = flags & PMM_TREE_FOLLOW;
	agent_host_form.file = file;
	agent.module_lock = 1;
	agent.module_reading = true;
	agent.nr_modules = 3;
	agent.sampled = true;
	sample_pages[5] = 1;
}

static void a_child_has_a_ledger_of_its_own(void **state)
{
	(void)state;
	prepare(PMM_TREE_FOLLOW, file_of_memory);
	in_child(child_gets_a_ledger);
	assert_int_equal(pmm_ctx_sums(&ctx_find()->pub).allocs, 9);
	assert_int_equal(agent.ledger->nr_ctx, 2);
	assert_int_equal(agent.ledger->forked, 0);
}

static void a_child_is_left_alone_when_it_is_to_be(void **state)
{
	(void)state;
	prepare(0, file_of_memory);
	in_child(child_is_not_followed);
}

static void a_child_without_a_file_is_said_to_be_lost(void **state)
{
	(void)state;
	prepare(PMM_TREE_FOLLOW, NULL);
	in_child(child_gets_no_file);
}

static void a_child_is_begun_once(void **state)
{
	(void)state;
	prepare(PMM_TREE_FOLLOW, file_of_memory);
	in_child(child_is_being_begun);
	in_child(child_waits_for_another_thread);
}

/* Generations go round past 0, which is no process. */
static void child_is_the_first_again(void)
{
	MUST(ctx_find() != NULL);
	MUST(*agent.alive == 1 && agent.generation == 1);
}

static void generations_are_never_0(void **state)
{
	(void)state;
	prepare(PMM_TREE_FOLLOW, file_of_memory);
	agent.generation = UINT32_MAX;
	in_child(child_is_the_first_again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_child_has_a_ledger_of_its_own),
		TEST(a_child_is_left_alone_when_it_is_to_be),
		TEST(a_child_without_a_file_is_said_to_be_lost),
		TEST(a_child_is_begun_once),
		TEST(generations_are_never_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
