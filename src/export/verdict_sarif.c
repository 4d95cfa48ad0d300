/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verdicts as SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html), whose
 * names the properties have.
 *
 * Results are findings only: viewers show a result of kind "pass" as one more alert. What was
 * looked at without a find, or could not be, is among the notifications of the invocation, and
 * executionSuccessful is false when not all could be looked at.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/json.h"
#include "src/export/verdict_priv.h"

#define SCHEMA	"https://json.schemastore.org/sarif-2.1.0.json"
#define ROOT	"SRCROOT"

static const char *const level_name[VERDICT_NR_LEVELS] = {
	[VERDICT_ERROR] = "error",
	[VERDICT_WARNING] = "warning",
	[VERDICT_NOTE] = "note",
};

struct sarif {
	struct json j;
	struct verdicts *v;
	bool failed;
};

static void text_object(struct json *j, const char *key, const char *text)
{
	json_object_flat(j, key);
	json_str(j, "text", text);
	json_end(j);
}

/* ---- where ---- */

/* A path, percent-encoded. */
static void add_path(struct str *uri, const char *path)
{
	for (const unsigned char *c = (const unsigned char *)path; *c; c++) {
		if ((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') ||
		    (*c >= 'A' && *c <= 'Z') || strchr("-._~/+", *c))
			str_addc(uri, (char)*c);
		else
			str_addf(uri, "%%%02X", *c);
	}
}

static void artifact(struct sarif *s, const char *key, const struct verdict_frame *f)
{
	struct str uri = STR_INIT;

	if (!f->in_root)
		str_add(&uri, "file://");
	add_path(&uri, f->path);
	json_object_flat(&s->j, key);
	json_str(&s->j, "uri", str_text(&uri));
	if (f->in_root)
		json_str(&s->j, "uriBaseId", ROOT);
	json_end(&s->j);
	s->failed |= uri.failed;
	str_fini(&uri);
}

static void location(struct sarif *s, const char *key, const struct verdict_frame *f)
{
	json_object(&s->j, key);
	if (f->path) {
		json_object(&s->j, "physicalLocation");
		artifact(s, "artifactLocation", f);
		if (f->lined && f->line) {
			json_object_flat(&s->j, "region");
			json_u64(&s->j, "startLine", f->line);
			json_end(&s->j);
		}
		json_end(&s->j);
	}
	if (f->function) {
		json_array(&s->j, "logicalLocations");
		json_object_flat(&s->j, NULL);
		json_str(&s->j, "fullyQualifiedName", f->function);
		json_str(&s->j, "kind", "function");
		json_end(&s->j);
		json_end(&s->j);
	}
	json_end(&s->j);
}

/* A result needs a place, or viewers leave it out: the program, where no better one is known. */
static void locations(struct sarif *s, const struct verdict *d)
{
	const struct verdict_frame *f = d->at ? &s->v->frames.v[d->at - 1] : &s->v->program_frame;

	json_array(&s->j, "locations");
	if (f->path || f->function)
		location(s, NULL, f);
	json_end(&s->j);
}

static void stacks(struct sarif *s, const struct verdict *d)
{
	json_array(&s->j, "stacks");
	for (uint32_t i = 0; i < d->nr_stacks; i++) {
		const struct verdict_stack *k = &d->stack[i];

		if (!k->nr)
			continue;
		json_object(&s->j, NULL);
		if (k->title)
			text_object(&s->j, "message", k->title);
		json_array(&s->j, "frames");
		for (uint32_t n = 0; n < k->nr; n++) {
			const struct verdict_frame *f = &s->v->frames.v[k->first + n];

			json_object(&s->j, NULL);
			location(s, "location", f);
			if (f->module && *f->module)
				json_str(&s->j, "module", str_basename(f->module));
			json_end(&s->j);
		}
		json_end(&s->j);
		json_end(&s->j);
	}
	json_end(&s->j);
}

/* ---- results ---- */

static void suppression(struct sarif *s, const struct verdict *d)
{
	json_array(&s->j, "suppressions");
	if (d->state == VERDICT_SUPPRESSED) {
		json_object_flat(&s->j, NULL);
		json_str(&s->j, "kind", "external");
		if (d->text)
			json_str(&s->j, "justification", d->text);
		json_end(&s->j);
	}
	json_end(&s->j);
}

static void result(struct sarif *s, const struct verdict *d)
{
	struct str fingerprint = STR_INIT;

	str_addf(&fingerprint, "%s:%u", d->fingerprint, d->number);
	json_object(&s->j, NULL);
	json_str(&s->j, "ruleId", s->v->rules.v[d->rule].id);
	json_u64(&s->j, "ruleIndex", d->rule);
	json_str(&s->j, "level", level_name[d->level]);
	text_object(&s->j, "message", d->message);
	locations(s, d);
	stacks(s, d);
	json_object_flat(&s->j, "partialFingerprints");
	json_str(&s->j, d->scheme, str_text(&fingerprint));
	json_end(&s->j);
	suppression(s, d);
	json_object_flat(&s->j, "properties");
	json_str(&s->j, "title", d->title);
	json_bool(&s->j, "failed", d->state == VERDICT_FAILED);
	for (uint32_t i = 0; i < d->nr_figures; i++)
		json_u64(&s->j, d->figure[i].name, d->figure[i].value);
	json_end(&s->j);
	json_end(&s->j);
	s->failed |= fingerprint.failed;
	str_fini(&fingerprint);
}

static bool is_result(const struct verdict *d)
{
	return d->state <= VERDICT_SUPPRESSED;
}

static void results(struct sarif *s)
{
	json_array(&s->j, "results");
	vec_each(&s->v->list, d)
		if (is_result(d))
			result(s, d);
	json_end(&s->j);
}

/* ---- the run ---- */

static void rules(struct sarif *s)
{
	json_array(&s->j, "rules");
	vec_each(&s->v->rules, r) {
		json_object(&s->j, NULL);
		json_str(&s->j, "id", r->id);
		text_object(&s->j, "shortDescription", r->title);
		if (r->help)
			text_object(&s->j, "help", r->help);
		json_object_flat(&s->j, "defaultConfiguration");
		json_str(&s->j, "level", level_name[r->level]);
		json_end(&s->j);
		json_end(&s->j);
	}
	json_end(&s->j);
}

static void notification(struct sarif *s, const struct verdict *d)
{
	struct str text = STR_INIT;

	str_addf(&text, "%s: %s", d->title, d->message);
	json_object(&s->j, NULL);
	json_str(&s->j, "level", d->state == VERDICT_UNKNOWN   ? "error"
				 : d->state == VERDICT_SKIPPED ? "warning"
							       : "note");
	text_object(&s->j, "message", str_text(&text));
	json_object_flat(&s->j, "associatedRule");
	json_str(&s->j, "id", s->v->rules.v[d->rule].id);
	json_u64(&s->j, "index", d->rule);
	json_end(&s->j);
	json_end(&s->j);
	s->failed |= text.failed;
	str_fini(&text);
}

static void invocation(struct sarif *s)
{
	struct verdicts *v = s->v;
	struct str line = STR_INIT;
	time_t t = (time_t)(v->start_realtime_ns / 1000000000);
	char at[32];
	struct tm tm;

	str_addf(&line, "pmm %s", v->command);
	json_array(&s->j, "invocations");
	json_object(&s->j, NULL);
	json_bool(&s->j, "executionSuccessful", !verdicts_count(v, VERDICT_UNKNOWN));
	json_str(&s->j, "commandLine", str_text(&line));
	if (v->start_realtime_ns && gmtime_r(&t, &tm) &&
	    strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%SZ", &tm))
		json_str(&s->j, "startTimeUtc", at);
	json_array(&s->j, "toolExecutionNotifications");
	vec_each(&v->list, d)
		if (!is_result(d))
			notification(s, d);
	json_end(&s->j);
	json_object_flat(&s->j, "properties");
	json_str(&s->j, "program", v->cmdline && *v->cmdline ? v->cmdline : v->program);
	json_end(&s->j);
	json_end(&s->j);
	json_end(&s->j);
	s->failed |= line.failed;
	str_fini(&line);
}

static void bases(struct sarif *s)
{
	struct str uri = STR_INIT, root = STR_INIT;

	if (!s->v->root)
		return;
	str_add(&uri, "file://");
	verdict_path_add(&root, s->v->root);
	add_path(&uri, str_text(&root));
	if (!str_ends(str_text(&uri), "/"))
		str_addc(&uri, '/');
	json_object(&s->j, "originalUriBaseIds");
	json_object_flat(&s->j, ROOT);
	json_str(&s->j, "uri", str_text(&uri));
	json_end(&s->j);
	json_end(&s->j);
	s->failed |= uri.failed || root.failed;
	str_fini(&uri);
	str_fini(&root);
}

/* Results of the same ID follow one another: one for each command and program. */
static void automation(struct sarif *s)
{
	struct str id = STR_INIT;

	str_addf(&id, "pmm/%s/%s/", s->v->command, str_basename(s->v->program));
	json_object_flat(&s->j, "automationDetails");
	json_str(&s->j, "id", str_text(&id));
	json_end(&s->j);
	s->failed |= id.failed;
	str_fini(&id);
}

static void run(struct sarif *s)
{
	json_object(&s->j, NULL);
	json_object(&s->j, "tool");
	json_object(&s->j, "driver");
	json_str(&s->j, "name", "pmm");
	json_str(&s->j, "semanticVersion", PMM_VERSION);
	rules(s);
	json_end(&s->j);
	json_end(&s->j);
	automation(s);
	invocation(s);
	bases(s);
	json_str(&s->j, "columnKind", "unicodeCodePoints");
	results(s);
	json_end(&s->j);
}

int verdicts_print_sarif(struct verdicts *v, FILE *out)
{
	struct sarif s = { .v = v };
	int rc = verdicts_finish(v);

	if (rc)
		return rc;
	json_init(&s.j, out);
	json_object(&s.j, NULL);
	json_str(&s.j, "$schema", SCHEMA);
	json_str(&s.j, "version", "2.1.0");
	json_array(&s.j, "runs");
	run(&s);
	json_end(&s.j);
	json_end(&s.j);
	rc = json_finish(&s.j);
	return rc ? rc : s.failed ? -ENOMEM : 0;
}
