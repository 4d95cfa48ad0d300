/*
 * Looking at a running process once or again and again: waiting for the next time, for a signal (SIGINT, SIGTERM, SIGHUP) or for its end. Signals
 * wait meanwhile, so that Ctrl-C never comes in the middle of a look.
 */
#ifndef CMD_AGAIN_H
#define CMD_AGAIN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct again {
	uint64_t every_ns;		/* 0 = once */
	uint64_t next_ns;
	int signals, process;		/* descriptors, -1 = none */
	sigset_t old;
};

void again_begin(struct again *a, pid_t pid, uint64_t every_ns);

/* Before each look: when the next is due. */
void again_due(struct again *a);

/* Wait until then. False: once is enough, a signal came, or the process has ended, which is told. */
bool again_wait(struct again *a);

/* A look failed: because the process has ended, or is about to? Its memory goes first. That is told. */
bool again_ended(struct again *a);

/* After a look once, signals that came meanwhile take effect here. */
void again_end(struct again *a);

#endif
