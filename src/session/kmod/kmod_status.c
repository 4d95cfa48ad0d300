/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel module's state as a document. */
#include "src/session/kmod/kmod_status.h"

#include <errno.h>
#include <string.h>

#include "src/document/doc.h"
#include "src/view/kmod/kmod_view.h"

static int by_pid(const void *a, const void *b)
{
	const struct pmm_kmod_process *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

int kmod_status(struct kmod_device *d, const struct session_sink *to, struct err *e)
{
	struct kmod_processes all = { 0 };
	struct pmm_kmod_config config;
	struct doc doc = { 0 };
	int rc = kmod_device_config(d, &config, e);

	if (!rc)
		rc = kmod_device_processes(d, &all, e);
	if (!rc) {
		vec_sort(&all.v, by_pid);
		kmod_view_status(&doc, &config, all.v.v, all.v.nr);
		rc = doc_error(&doc);
		if (!rc)
			rc = session_document(to, &doc, false);
		if (rc == -EPIPE)
			rc = 0;
		if (rc)
			err_set(e, rc, "cannot write the state of the kernel module: %s",
				strerror(-rc));
	}
	doc_fini(&doc);
	kmod_processes_fini(&all);
	return rc;
}
