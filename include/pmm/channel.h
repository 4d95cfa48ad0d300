/* SPDX-License-Identifier: MIT */
/*
 * How a traced process and its monitor find and recognise each other.
 *
 * The monitor puts PMM_ENV into the program's environment:
 *
 *     PID:BOARD:COOKIE:START:UID:SOCKET:ADDRESS
 *
 *     PID      the monitor's pid (numbers are decimal unless marked hexadecimal)
 *     BOARD    number of its descriptor of the board (struct pmm_tree, include/pmm/ledger.h)
 *     COOKIE   hexadecimal, the tree's secret: known only to processes that can read the
 *              environment or the board
 *     START    when the monitor was started, field 22 of /proc/PID/stat
 *     UID      its effective user
 *     SOCKET   number of its descriptor of a socket in the file system that no longer has a name
 *              (O_PATH): connect() to /proc/PID/fd/SOCKET; -1 = none
 *     ADDRESS  hexadecimal: the abstract socket "\0pmm-ADDRESS" (16 digits), for processes that
 *              cannot use the other one. Not a secret (/proc/net/unix).
 *
 * The value may begin with PMM_ENV_HIDDEN and an enum pmm_env_hidden: the agent of the program that
 * executed this one has put these variables into an environment that was to be without them. They
 * are the last ones in it, and the agent removes them before the program runs.
 *
 * PMM_ENV_CLOSED in place of the first character: under a seccomp filter that was set since, making
 * a ledger might kill the process. An agent that finds it makes no ledger and no system call.
 *
 * Names prove nothing. A process accepts a board only if it is a memfd with the right seals that
 * belongs to UID, or was opened in a process PID that was started at START, and it holds COOKIE. It
 * hands its ledger only to a peer (SO_PEERCRED) of user UID, or of number PID started at START. The
 * monitor accepts a message only with COOKIE in it, and takes the sender's pid from the kernel
 * (SO_PEERCRED), never from the message.
 *
 * Both sockets are SOCK_SEQPACKET. A connection carries one struct pmm_message, with one descriptor
 * (SCM_RIGHTS) where `what` says so, and at most one answer. A connection that sends nothing is
 * dropped.
 */
#ifndef PMM_CHANNEL_H
#define PMM_CHANNEL_H

#include <stdint.h>

#define PMM_MESSAGE_VERSION	2u
#define PMM_EXEC_NAME		40
#define PMM_ADDRESS_PREFIX	"pmm-"
#define PMM_ENV_CLOSED		'!'
#define PMM_ENV_HIDDEN		'~'
/* so that there are always two variables to take out */
#define PMM_ENV_PAD		"PMM_PAD="

/*
 * Which part of LD_PRELOAD is the program's own. The variables that were added, the last ones, are
 * LD_PRELOAD or PMM_ENV_PAD, and PMM_ENV.
 */
enum pmm_env_hidden {
	PMM_HIDDEN_ALL		= 'a',	/* LD_PRELOAD is ours; there was none */
	/* PMM_ENV_PAD; LD_PRELOAD is ours up to the first colon, the rest is its own */
	PMM_HIDDEN_REST		= 'r',
	PMM_HIDDEN_NONE		= 'n',	/* PMM_ENV_PAD; LD_PRELOAD is its own and names the agent */
};

enum pmm_say {
	PMM_SAY_NOTHING,
	/* + descriptor: my ledger file, complete up to pmm_ledger.magic. No answer. */
	PMM_SAY_HERE,
	/*
	 * pmm_slot.leave of my ledger is PMM_LEAVE_ASKED. The answer is in that word, or, if I am
	 * not known, pmm_answer: -ESRCH
	 */
	PMM_SAY_LEAVE,
	PMM_SAY_LOST,		/* I have no ledger: number = errno. No answer. */
	PMM_SAY_BOARD,		/* Answer: pmm_answer + descriptor of the board, for reading */
	/*
	 * I may not make a file of that size (RLIMIT_FSIZE). Answer: pmm_answer + an empty, sealed
	 * file of the right size, for writing
	 */
	PMM_SAY_FILE,
	/*
	 * A program is about to be executed: name, why, number = the child's pid, or 0 = in my own
	 * process. No answer.
	 */
	PMM_SAY_EXEC,
	/*
	 * Did an earlier image of this process raise the limit on address space? Answer:
	 * pmm_answer, number = enum pmm_limit
	 */
	PMM_SAY_LIMIT,
	PMM_NR_SAYS,
};

struct pmm_message {
	uint64_t cookie;
	uint32_t version;	/* PMM_MESSAGE_VERSION */
	uint32_t what;		/* enum pmm_say */
	uint32_t new_image;	/* PMM_SAY_HERE, PMM_SAY_FILE: 1 = begun by exec, 0 = by fork */
	int32_t number;		/* see enum pmm_say */
	uint64_t time_ns;	/* CLOCK_MONOTONIC, in the monitor's time namespace */
	int32_t self;		/* own pid, as the sender sees it */
	uint32_t why;		/* PMM_SAY_EXEC: enum pmm_exec */
	char name[PMM_EXEC_NAME];	/* ... the file's, without directories; NUL-terminated */
};

/*
 * What to expect of a program that is executed: its agent makes a ledger (PMM_SAY_HERE or
 * PMM_SAY_LOST), or the program is not tracked, for this reason.
 */
enum pmm_exec {
	PMM_EXEC_TRACKED,	/* no obstacle is known */
	PMM_EXEC_STATIC,	/* no dynamic loader */
	PMM_EXEC_32BIT,
	PMM_EXEC_FOREIGN,	/* another processor's */
	PMM_EXEC_SECURE,	/* set-user-ID or set-group-ID, or with capabilities */
	/* its AddressSanitizer ends the program when another library is loaded first */
	PMM_EXEC_SANITIZER,
	PMM_EXEC_ELSEWHERE,	/* the agent's file is not there: another root directory */
	/*
	 * the environment could not be changed: too large, or that of system() or popen() in a
	 * program with threads
	 */
	PMM_EXEC_ENVIRONMENT,
	PMM_EXEC_FAILED,	/* it was not executed after all */
	PMM_EXEC_OTHER,		/* PMM_LEDGER is not ours: another pmm launches it? */
	/* its LeakSanitizer finds nothing when another malloc is called, as under 'pmm check' */
	PMM_EXEC_LEAK_SANITIZER,
	PMM_EXEC_THREAD_SANITIZER, /* ... crashes */
	PMM_NR_EXECS,
};

struct pmm_answer {
	uint32_t version;	/* PMM_MESSAGE_VERSION */
	int32_t number;		/* see enum pmm_say; negative: -errno, no descriptor */
};

_Static_assert(sizeof(struct pmm_message) == 80 && sizeof(struct pmm_answer) == 8, "layout");

#endif
