/* Slots kept for the processes forked from theirs. */
#include "src/capture/kept.h"

#include <stddef.h>

/* A child that was just forked has no slot yet; one whose fork failed never will. */
#define FORK_WAIT_NS 1000000000ull

static struct pmm_slot slot_at(const struct ledger_tree *t, unsigned k)
{
	const struct pmm_slot *s = &t->head->slot[k];

	return (struct pmm_slot){
		.state = __atomic_load_n(&s->state, __ATOMIC_ACQUIRE),
		.use = __atomic_load_n(&s->use, __ATOMIC_RELAXED),
		.parent = __atomic_load_n(&s->parent, __ATOMIC_ACQUIRE),
		.parent_use = __atomic_load_n(&s->parent_use, __ATOMIC_RELAXED),
	};
}

static bool is_live(const struct pmm_slot *s)
{
	return s->state == PMM_SLOT_LIVE || s->state == PMM_SLOT_REPLACED;
}

/* Mark the slots whose ledgers the process of slot `k` may look into, as far back as it does. */
static void mark_ancestors(const struct ledger_tree *t, unsigned k, bool *needed)
{
	struct pmm_slot s = slot_at(t, k);

	for (unsigned i = 0; i < PMM_MAX_ANCESTORS && s.parent && s.parent <= t->nr_slots; i++) {
		struct pmm_slot parent = slot_at(t, s.parent - 1);

		if (parent.use != s.parent_use)
			return;
		needed[s.parent - 1] = true;
		s = parent;
	}
}

/* Which slots are needed? False: so few are free that it does not matter. */
static bool mark_all(const struct ledger_tree *t, bool *needed)
{
	unsigned nr_free = 0;

	for (unsigned k = 0; k < t->nr_slots; k++) {
		struct pmm_slot s = slot_at(t, k);

		nr_free += s.state == PMM_SLOT_FREE;
		if (is_live(&s))
			mark_ancestors(t, k, needed);
	}
	return nr_free > t->nr_slots / 4;
}

static bool forks_are_under_way(const struct ledger_tree *t)
{
	return __atomic_load_n(&t->head->forks_begun, __ATOMIC_RELAXED) != __atomic_load_n(&t->head->forks_seen, __ATOMIC_RELAXED);
}

void kept_tend(struct kept *kept, struct ledger_tree *t, uint64_t now_ns)
{
	bool needed[PMM_MAX_SLOTS] = { false }, forks, room;

	if (!kept->nr)
		return;
	forks = forks_are_under_way(t);		/* before the slots are looked at: children take theirs first */
	room = mark_all(t, needed);
	for (unsigned k = 0; k < t->nr_slots; k++) {
		if (!kept->since_ns[k] || (room && (needed[k] || (forks && now_ns < kept->since_ns[k] + FORK_WAIT_NS))))
			continue;
		kept->since_ns[k] = 0;
		kept->nr--;
		ledger_tree_slot_release(t, k);
	}
}

void kept_add(struct kept *kept, struct ledger_tree *t, unsigned k, uint64_t now_ns)
{
	if (t->head->check.level == PMM_CHECK_NONE) {
		ledger_tree_slot_release(t, k);
		return;
	}
	kept->nr += !kept->since_ns[k];
	kept->since_ns[k] = now_ns ? now_ns : 1;
}
