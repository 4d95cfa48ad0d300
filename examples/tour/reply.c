/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bug to find with `pmm check`: a request is read after its release. */
#include <stdio.h>
#include <stdlib.h>

struct request {
	char name[24];
	int status;
};

static struct request *request_new(void)
{
	struct request *r = calloc(1, sizeof(*r));

	r->status = 200;
	return r;
}

static void request_drop(struct request *r)
{
	free(r);
}

static int reply(const struct request *r)
{
	return r->status;	/* released by main() */
}

int main(void)
{
	struct request *volatile r = request_new();

	request_drop(r);
	printf("status %s\n", reply(r) ? "sent" : "lost");
	return 0;
}
