/* SPDX-License-Identifier: MIT */
/*
 * The full form: which calls the quick way may take, and how it starts.
 */
static void option_changed(void)
{
	static const enum pmm_option of_new[] = { PMM_MIN_SIZE, PMM_HUGE_SIZE,	  PMM_LIMIT,
						  PMM_FILL_NEW, PMM_CHECK_ALWAYS, PMM_TELL_ZERO };
	unsigned i, careful = !monitor.table || monitor.foreign || monitor.off ||
			      option(PMM_CANARY) != PMM_BEHIND;

	for (i = 0; i < sizeof(of_new) / sizeof(of_new[0]); i++)
		careful += option(of_new[i]) != 0;
	__atomic_store_n(&full_careful, careful, __ATOMIC_RELEASE);
	careful = option(PMM_KEEP) || option(PMM_FILL_FREED) || option(PMM_CHECK_ALWAYS) ||
		  !monitor.table || monitor.foreign;
	__atomic_store_n(&full_careful_free, careful, __ATOMIC_RELEASE);
	full_note_stacks(option(PMM_STACKS) != 0);
}

static size_t bytes_live(void)
{
	return (size_t)CALL_TABLE(live_bytes(), 0);
}

static unsigned tables_at_exit(void)
{
	unsigned tables = (unsigned)option(PMM_AT_EXIT);
	struct full_totals t;

	full_get_totals(&t);
	if (t.allocs - t.frees > MOST_AT_EXIT && tables & PMM_BLOCKS)
		return (tables & ~(unsigned)PMM_BLOCKS) | PMM_SITES;	/* too many to read */
	return t.allocs != t.frees || monitor.marked.first ? tables
							   : tables & ~(unsigned)PMM_BLOCKS;
}

/*
 * Before fork(): whoever is in the midst of the start comes to its end, as the child could not
 * bring it there. After a second or two it is forked all the same: the C library's fork() has a
 * lock of its own, and the start may wait for who wants that.
 */
static void full_forking(void)
{
	long since;

	if (monitor.started || PEEK(&monitor.owner) == SELF)
		return;
	since = (long)PMM_TIME();
	while (!CLAIM(&monitor.owner, SELF)) {
		if ((long)PMM_TIME() > since + 1)
			return;
		PMM_YIELD();
	}
	monitor.forking = 1;
}

static void full_forked_parent(void)
{
	int saved = errno;

	if (!monitor.forking || PEEK(&monitor.owner) != SELF)
		return;
	monitor.forking = 0;
	leave();
	errno = saved;			/* of a fork() that failed */
}

/*
 * In a forked child: the thread that had the lock is not there, and what the parent has counted,
 * gathered and released is the parent's.
 */
static void full_forked(void)
{
	monitor.pid = process_id();
	memset(&monitor.stats, 0, sizeof(monitor.stats));
	memset(monitor.reported, 0, sizeof(monitor.reported));
	if (monitor.started)
		memset(full_freed, 0, sizeof(full_freed));
	if (PEEK(&monitor.owner) == SELF && !monitor.forking)
		return;
	monitor.forking = 0;
	monitor.text_len = 0;
	monitor.late_tables = 0;
	RELEASE(&monitor.owner);
}

/* Before there are threads, except in what dlopen() brings later. */
static __attribute__((constructor(101))) void be_loaded(void)
{
	full_find_once();
	pthread_atfork(full_forking, full_forked_parent, full_forked);
}

/*
 * Once: find where blocks are recorded, and open the quick way. Who comes meanwhile waits for it; a
 * handler that interrupts it passes.
 */
static void start_full(void)
{
	bool own;

	monitor.table = full_start(&own, &monitor.program);
	monitor.started = 1;
	monitor.foreign = !monitor.table || !own;
	if (!monitor.table && own) {
		put_text("pmm: there is no memory for a ledger: all blocks pass untracked\n");
		hand_on();
	}
	if (monitor.table && monitor.table->is_copy && monitor.foreign &&
	    option(PMM_AT_EXIT) == (PMM_BLOCKS | PMM_TOTALS))
		options[PMM_AT_EXIT] = 0;		/* the program says it of all */
	option_changed();
}

/*
 * The C library's fork() has a lock of its own, and a handler that interrupts it there may want
 * ours: the two are not taken together.
 */
static void begin_full(void)
{
	int saved = errno;

	if (!enter())
		return;
	if (!monitor.started) {
		monitor.pid = process_id();
		start_full();
	}
	leave();
	begin();
	errno = saved;
}

bool full_ready(void)
{
	begin_full();
	return monitor.table == &full_own_table;
}
