/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Worker threads that parse jobs all the time. */
#include "crew.h"

#include <pmm.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BUFFER_BYTES = 4096, NR_FIELDS = 16, JOB_MS = 10 };

/* Under the crew's mutex but for what the thread has for itself. */
struct worker {
	struct crew *crew;
	pthread_t thread;
	bool enough;
	unsigned long jobs;
	char *buffer;		/* the thread's own */
};

void crew_init(struct crew *crew)
{
	pthread_condattr_t attr;

	memset(crew, 0, sizeof(*crew));
	pthread_mutex_init(&crew->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&crew->enough, &attr);
	pthread_condattr_destroy(&attr);
}

/* A job's text cut into its fields; what could not be had is NULL. */
static void parse_job(struct worker *worker, unsigned long number, char **field)
{
	char *at = worker->buffer, *end;
	int i;

	for (i = 0; i < NR_FIELDS; i++)
		at += snprintf(at, 32, "%d:%lu,", i, number);
	for (at = worker->buffer, i = 0; i < NR_FIELDS; i++, at = end + 1) {
		end = strchr(at, ',');
		field[i] = strndup(at, (size_t)(end - at));
	}
}

static void do_job(struct worker *worker, unsigned long number)
{
	char *field[NR_FIELDS];
	int i;

	parse_job(worker, number, field);
	for (i = 0; i < NR_FIELDS; i++)
		free(field[i]);
}

static void wait_for_job(struct worker *worker)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += JOB_MS * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_nsec -= 1000000000L;
		until.tv_sec++;
	}
	pthread_cond_timedwait(&worker->crew->enough, &worker->crew->mutex, &until);
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct crew *crew = worker->crew;

	pthread_mutex_lock(&crew->mutex);
	while (!worker->enough) {
		unsigned long number = worker->jobs;

		pthread_mutex_unlock(&crew->mutex);
		do_job(worker, number);
		pthread_mutex_lock(&crew->mutex);
		worker->jobs++;
		if (!worker->enough)
			wait_for_job(worker);
	}
	pthread_mutex_unlock(&crew->mutex);
	return NULL;
}

static void worker_free(struct worker *worker)
{
	free(worker->buffer);
	free(worker);
}

static struct worker *worker_new(struct crew *crew)
{
	struct worker *worker = calloc(1, sizeof(*worker));

	if (!worker)
		return NULL;
	worker->crew = crew;
	worker->buffer = malloc(BUFFER_BYTES);
	if (!worker->buffer) {
		worker_free(worker);
		return NULL;
	}
	return worker;
}

/* Signals are the first thread's: a worker is started with all of them blocked. */
static int start_thread(struct worker *worker)
{
	sigset_t all, before;
	int e;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	e = pthread_create(&worker->thread, NULL, work, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -e;
}

static int hire(struct crew *crew)
{
	struct worker *worker = worker_new(crew);
	int e;

	if (!worker)
		return -ENOMEM;
	e = start_thread(worker);
	if (e) {
		worker_free(worker);
		return e;
	}
	crew->worker[crew->nr++] = worker;
	return 0;
}

static void dismiss(struct crew *crew, unsigned left)
{
	unsigned i;

	pthread_mutex_lock(&crew->mutex);
	for (i = left; i < crew->nr; i++)
		crew->worker[i]->enough = true;
	pthread_cond_broadcast(&crew->enough);
	pthread_mutex_unlock(&crew->mutex);
	while (crew->nr > left) {
		struct worker *worker = crew->worker[--crew->nr];

		pthread_join(worker->thread, NULL);
		crew->jobs_before += worker->jobs;
		worker_free(worker);
	}
}

int crew_resize(struct crew *crew, unsigned nr)
{
	int e = 0;

	if (nr < crew->nr)
		dismiss(crew, nr);
	while (crew->nr < nr && !e)
		e = hire(crew);
	return e;
}

unsigned long crew_jobs(struct crew *crew)
{
	unsigned long jobs = crew->jobs_before;
	unsigned i;

	pthread_mutex_lock(&crew->mutex);
	for (i = 0; i < crew->nr; i++)
		jobs += crew->worker[i]->jobs;
	pthread_mutex_unlock(&crew->mutex);
	return jobs;
}

void crew_fini(struct crew *crew)
{
	dismiss(crew, 0);
	pthread_cond_destroy(&crew->enough);
	pthread_mutex_destroy(&crew->mutex);
}
