/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs by process, the newest first. */
#include "src/session/trace/trace_images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/nanotime.h"

static void image_free(const struct trace_images *im, struct trace_image *image)
{
	while (image) {
		struct trace_image *older = image->older;

		if (im->gone)
			im->gone(im->arg, image);
		kernel_sums_fini(&image->sums);
		vec_fini(&image->delayed);
		free(image);
		image = older;
	}
}

/* Of one process only the newest are kept. */
static void cut(const struct trace_images *im, struct trace_image *newest)
{
	struct trace_image *image = newest;

	for (unsigned i = 1; image && i < TRACE_IMAGES_EACH; i++)
		image = image->older;
	if (image) {
		image_free(im, image->older);
		image->older = NULL;
	}
}

static uint32_t *place_of(const struct trace_images *im, pid_t pid)
{
	uint32_t *at = hash_find(&im->at, (uint64_t)pid);

	return at && *at ? at : NULL;
}

int trace_images_begin(struct trace_images *im, pid_t pid, uint64_t time_ns)
{
	struct trace_image *image;
	uint32_t *at = place_of(im, pid);

	if (!at && im->all.nr == TRACE_IMAGES_MAX)
		return 0;		/* find() has none: its events are in no heap */
	image = calloc(1, sizeof(*image));
	if (!image)
		return -ENOMEM;
	image->pid = pid;
	image->from_ns = time_ns;
	if (at) {
		image->older = im->all.v[*at - 1];
		im->all.v[*at - 1] = image;
		cut(im, image);
		return 0;
	}
	if (vec_push(&im->all, image) || hash_put(&im->at, (uint64_t)pid, im->all.nr)) {
		if (im->all.nr && *vec_last(&im->all) == image)
			im->all.nr--;
		free(image);
		return -ENOMEM;
	}
	return 0;
}

int trace_images_note(struct trace_images *im, const struct trace_record *r)
{
	pid_t child = (pid_t)r->a[0];

	if (r->kind == TRACE_EXIT && r->a[2]) {
		struct trace_image *image = trace_images_find(im, (pid_t)r->tgid);

		if (image)
			image->ended_ns = nanotime();
	}
	if (r->kind == TRACE_EXEC)
		return trace_images_begin(im, (pid_t)r->tgid, r->time_ns);
	if (r->kind != TRACE_FORK || child == (pid_t)r->tgid)
		return 0;
	/* another process had that number, and its heap did not come */
	trace_images_drop(im, trace_images_find(im, child));
	return trace_images_begin(im, child, r->time_ns);
}

struct trace_image *trace_images_find(const struct trace_images *im, pid_t pid)
{
	const uint32_t *at = place_of(im, pid);

	return at ? im->all.v[*at - 1] : NULL;
}

struct trace_image *trace_images_of(const struct trace_images *im, pid_t pid, uint64_t replaced_ns)
{
	struct trace_image *image = trace_images_find(im, pid);

	while (replaced_ns && image && image->older && image->from_ns > replaced_ns)
		image = image->older;
	return image;
}

/* Its place is taken by the last one. */
static void strike_out(struct trace_images *im, pid_t pid)
{
	uint32_t *at = place_of(im, pid), index = *at - 1;
	struct trace_image *last = *vec_last(&im->all);

	im->all.v[index] = last;
	im->all.nr--;
	*hash_find(&im->at, (uint64_t)last->pid) = index + 1;
	*at = 0;
}

void trace_images_drop(struct trace_images *im, struct trace_image *image)
{
	struct trace_image *newest;

	if (!image)
		return;
	newest = trace_images_find(im, image->pid);
	if (newest == image) {
		strike_out(im, image->pid);
	} else {
		while (newest->older != image)
			newest = newest->older;
		newest->older = NULL;
	}
	image_free(im, image);
}

void trace_images_sweep(struct trace_images *im, uint64_t until_ns,
			bool (*has_ledger)(void *arg, pid_t pid), void *arg)
{
	for (size_t i = im->all.nr; i; i--) {	/* the last one takes the place of one dropped */
		struct trace_image *image = im->all.v[i - 1];

		if (image->ended_ns && image->ended_ns <= until_ns && !has_ledger(arg, image->pid))
			trace_images_drop(im, image);
	}
}

int trace_image_delay(struct trace_image *image, const struct trace_record *r, uint32_t stack)
{
	if (image->delayed.nr == TRACE_IMAGE_DELAYED)
		return -E2BIG;
	return vec_push(&image->delayed, (struct trace_delayed){ *r, stack });
}

void trace_image_drop_delayed(struct trace_image *image, size_t nr)
{
	if (!nr)
		return;
	image->delayed.nr -= nr;
	memmove(image->delayed.v, image->delayed.v + nr,
		image->delayed.nr * sizeof(*image->delayed.v));
	if (!image->delayed.nr)
		vec_fini(&image->delayed);
}

void trace_images_fini(struct trace_images *im)
{
	vec_each(&im->all, image)
		image_free(im, *image);
	vec_fini(&im->all);
	hash_fini(&im->at);
}
