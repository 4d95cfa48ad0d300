/* SPDX-License-Identifier: MIT */
/*
 * The memory file that this process's ledger is in: made, mapped for this process alone, laid
 * out.
 */
#ifndef AGENT_SEGMENT_H
#define AGENT_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pmm_tree;

/* ---- what each form of the agent does in its own way. 0 or negative. */

/*
 * May making a ledger be death (PMM_ENV_CLOSED)? Asked before anything else, and without a system
 * call.
 */
bool segment_closed(void);

/* Once: know what is asked for and whose clock counts: set agent.tree. */
int segment_open(void);

/*
 * Make a file for this process's ledger and map it by segment_map(). In a forked child again, with
 * its parent's out of reach.
 */
int segment_file(void);

/*
 * The ledger is complete: the monitor is informed. new_image: begun by exec, not by fork.
 */
void segment_publish(bool new_image);

/* This process has no ledger, though it should. */
void segment_lost(void);

/* ---- what they share */

/* Do these sizes make sense? */
bool segment_sane(const struct pmm_tree *t);

/*
 * Map `bytes` of a file, or of memory where fd is -1, so that no child inherits it. Only its head
 * can be used so far. Sets agent.file; 0 or -1, and then nothing is mapped.
 */
int segment_map(int fd, uint64_t bytes);

/* Undo segment_map(), the limit on address space included. */
void segment_unmap(void);

/* Give memory behind [at, at + bytes) of the mapping. False: there is none. */
bool segment_back(char *at, uint64_t bytes);

/* Have a ledger: agent.base, agent.ledger, agent.slot. new_image: we come from exec. 0 or -1. */
int segment_claim(bool new_image);

/* agent.own_called has come: into the ledger, if this process has one yet. */
void segment_note_own(void);

#endif
