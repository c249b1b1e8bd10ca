/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/remote.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "spec/names.h"

#include <errno.h>
#include <jansson.h>
#include <sodium.h>
#include <string.h>

enum { STDIN_MAX = 8 << 20 };

/* Settings that change a run and that no request can say. */
static const char *const LOCAL_ONLY[] = {
	"backend",
	"seccomp",
	"allow_unsafe",
	"limits.max_timeout",
	"limits.tmp_size",
	"limits.max_output",
	"limits.output_cap",
	"limits.out_files",
	"limits.out_bytes",
	"check.imports",
	"check.blocked_imports",
	"check.rules_file",
	"check.max_script_chars",
	"check.max_script_bytes",
	"native.require",
	"native.python",
	"native.bash",
	"native.proc",
};

bool bj_remote_fits(const struct bj_settings *settings)
{
	for (size_t i = 0; i < BJ_ARRAY_SIZE(LOCAL_ONLY); i++)
		if (bj_settings_was_set(settings, LOCAL_ONLY[i]))
			return false;
	return settings->policy != BJ_POLICY_OFF;
}

/* --- the order -------------------------------------------------------------------------------- */

static json_t *base64(const void *data, size_t size)
{
	const size_t room = sodium_base64_encoded_len(size, sodium_base64_VARIANT_ORIGINAL);
	AUTO_FREE char *text = malloc(room);

	if (!text)
		return NULL;
	sodium_bin2base64(text, room, data, size, sodium_base64_VARIANT_ORIGINAL);
	return json_string(text);
}

static int put(json_t *order, const char *name, json_t *value_take)
{
	return value_take ? json_object_set_new(order, name, value_take) : -1;
}

/* An image goes by its digest: the same name may mean other bytes to the service. */
static int put_image(json_t *order, const char *image)
{
	const char *digest = strstr(image, "sha256:");

	return put(order, "image", json_string(digest ? digest : image));
}

static int put_limits(json_t *order, const struct bj_settings *s)
{
	int r = 0;

	if (bj_settings_was_set(s, "image"))
		r |= put_image(order, s->image);
	if (bj_settings_was_set(s, "profile"))
		r |= put(order, "profile", json_string(s->profile));
	if (bj_settings_was_set(s, "limits.timeout"))
		r |= put(order, "timeout", json_real((double)s->limits.timeout_ms / 1000.0));
	if (bj_settings_was_set(s, "limits.memory"))
		r |= put(order, "memory", json_integer((json_int_t)s->limits.memory));
	if (bj_settings_was_set(s, "limits.cpus"))
		r |= put(order, "cpus", json_real((double)s->limits.cpu_milli / 1000.0));
	if (bj_settings_was_set(s, "limits.pids"))
		r |= put(order, "pids", json_integer(s->limits.pids));
	if (s->policy == BJ_POLICY_STRICT)
		r |= put(order, "policy", json_string(bj_policy_name(s->policy)));
	return r;
}

static int put_lists(json_t *order, const struct bj_spec *spec)
{
	json_t *args = json_array(), *env = json_object(), *files = json_array();
	int r = 0;

	for (const char *const *a = spec->args; a && *a; a++)
		r |= json_array_append_new(args, json_string(*a));
	for (const char *const *e = spec->env; e && *e; e++) {
		AUTO_FREE char *name = strndup(*e, strcspn(*e, "="));

		r |= name ? put(env, name, json_string(*e + strcspn(*e, "=") + 1)) : -1;
	}
	for (size_t i = 0; i < spec->n_inputs; i++)
		r |= json_array_append_new(
			files, json_pack("{s:s, s:o}", "name", spec->inputs[i].name, "base64",
					 base64(spec->inputs[i].data, spec->inputs[i].size)));
	r |= put(order, "args", args);
	r |= put(order, "env", env);
	return r | put(order, "files", files);
}

static int put_stdin(json_t *order, int fd)
{
	AUTO_BUF struct bj_buf text = { .max = STDIN_MAX };

	if (fd < 0)
		return 0;
	if (bj_fd_read_all(fd, &text) < 0)
		return -1;
	return put(order, "stdin",
		   json_pack("{s:o}", "base64", base64(text.data ? text.data : "", text.size)));
}

/* The body of the request; NULL when JSON cannot hold it, or memory. */
static char *make_order(const struct bj_spec *spec, const struct bj_settings *settings)
{
	json_t *order = json_object();
	int r = put(order, "script", json_stringn(spec->script, spec->script_size));

	r |= put(order, "language", json_string(bj_language_name(spec->language)));
	r |= put_limits(order, settings);
	r |= put_lists(order, spec);
	if (r == 0)
		r = put_stdin(order, spec->stdin_fd);

	char *text = r == 0 ? json_dumps(order, JSON_COMPACT) : NULL;

	json_decref(order);
	return text;
}

/* --- the result ------------------------------------------------------------------------------- */

static char *copy_text(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? strdup(text) : NULL;
}

/* The same for what is always there: "" when it is not. */
static char *copy_word(const json_t *object, const char *name)
{
	char *text = copy_text(object, name);

	return text ? text : strdup("");
}

/* A number from @min to @max; @none when it is something else. */
static int copy_number(const json_t *object, const char *name, int min, int max, int none)
{
	const json_t *value = json_object_get(object, name);
	const json_int_t number = json_integer_value(value);

	return json_is_integer(value) && number >= min && number <= max ? (int)number : none;
}

static void read_finding(const json_t *from, struct bj_finding *to)
{
	const char *severity = json_string_value(json_object_get(from, "severity"));
	const int value = severity ? bj_severity_from_name(severity) : -1;

	*to = (struct bj_finding){
		.layer = copy_word(from, "layer"),
		.rule = copy_word(from, "rule"),
		.message = copy_word(from, "message"),
		.severity = value < 0 ? BJ_SEV_INFO : (enum bj_severity)value,
		.line = (uint32_t)json_integer_value(json_object_get(from, "line")),
		.column = (uint32_t)json_integer_value(json_object_get(from, "column")),
		.blocks = json_is_true(json_object_get(from, "blocks")),
	};
}

static enum bj_cause read_cause(const json_t *object)
{
	const char *name = json_string_value(json_object_get(object, "cause"));

	for (int i = BJ_CAUSE_EXITED; name && i <= BJ_CAUSE_INFRASTRUCTURE; i++)
		if (strcmp(name, bj_cause_name((enum bj_cause)i)) == 0)
			return (enum bj_cause)i;
	return BJ_CAUSE_INFRASTRUCTURE;
}

static struct bj_result *read_result(const json_t *object)
{
	const json_t *findings = json_object_get(object, "findings");
	struct bj_result *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->state = BJ_FINISHED;
	r->cause = read_cause(object);
	r->exit_code = copy_number(object, "exit_code", 0, 255, -1);
	r->signal = copy_number(object, "signal", 0, 127, 0);
	r->success = json_is_true(json_object_get(object, "success")) &&
		     r->cause == BJ_CAUSE_EXITED && r->exit_code == 0;
	r->error = copy_text(object, "error");
	r->findings = calloc(json_array_size(findings) + 1, sizeof(*r->findings));
	for (size_t i = 0; r->findings && i < json_array_size(findings); i++)
		read_finding(json_array_get(findings, i), &r->findings[r->n_findings++]);
	return r;
}

/* --- events ----------------------------------------------------------------------------------- */

static int tell(const struct bj_spec *spec, enum bj_event_kind kind, const char *data, size_t size)
{
	const struct bj_event event = {
		.kind = kind, .state = BJ_RUNNING, .data = data, .size = size
	};

	if (spec->on_event)
		spec->on_event(spec->event_ctx, &event);
	return 0;
}

/* Pass on what the script wrote. */
static int pass_output(const struct bj_spec *spec, enum bj_event_kind kind, const json_t *object)
{
	const char *text = json_string_value(json_object_get(object, "text"));
	const json_t *coded = json_object_get(object, "base64");
	const size_t length = json_string_length(coded), room = length / 4 * 3 + 3;
	size_t size = 0;

	if (text)
		return tell(spec, kind, text, json_string_length(json_object_get(object, "text")));

	AUTO_FREE unsigned char *bytes = coded ? malloc(room) : NULL;

	if (!bytes || sodium_base642bin(bytes, room, json_string_value(coded), length, NULL, &size,
					NULL, sodium_base64_VARIANT_ORIGINAL) < 0)
		return -1;
	return tell(spec, kind, (const char *)bytes, size);
}

/* The last event. A problem may hold a result, or only say why there is none. */
static int take_end(const json_t *object, bool is_problem, struct bj_result **ret, char **ret_line,
		    struct bj_err *err)
{
	const json_t *result = is_problem ? json_object_get(object, "result") : object;
	const char *type = json_string_value(json_object_get(object, "type"));
	const char *detail = json_string_value(json_object_get(object, "detail"));

	if (!json_is_object(result))
		return bj_err_set(err, BJ_E_SYSTEM, 0, "the service failed: %.180s",
				  detail ? detail : "it does not say why");

	AUTO_FREE char *line = json_dumps(result, JSON_COMPACT | JSON_REAL_PRECISION(12));
	struct bj_result *r = line ? read_result(result) : NULL;

	if (!r)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory for the result");
	r->no_interpreter = is_problem && type && strstr(type, "no-interpreter");
	*ret = r;
	*ret_line = BJ_TAKE_PTR(line);
	return 0;
}

/* One event: 1 when it was the last. */
static int handle_event(const struct bj_spec *spec, const char *event, const struct bj_buf *data,
			struct bj_result **ret, char **ret_line, struct bj_err *err)
{
	json_t *object = json_loadb(data->data ? data->data : "", data->size, JSON_ALLOW_NUL, NULL);
	const bool is_problem = strcmp(event, "problem") == 0;
	int r = object ? 0 : -1;

	if (r == 0 && strcmp(event, "stdout") == 0)
		r = pass_output(spec, BJ_EV_STDOUT, object);
	else if (r == 0 && strcmp(event, "stderr") == 0)
		r = pass_output(spec, BJ_EV_STDERR, object);
	if (r < 0)
		r = bj_err_set(err, BJ_E_PROTOCOL, 0, "the service sent an event that is broken");
	else if (is_problem || strcmp(event, "result") == 0)
		r = take_end(object, is_problem, ret, ret_line, err) < 0 ? -err->code : 1;
	json_decref(object);
	return r;
}

/* --- running ---------------------------------------------------------------------------------- */

/* Cancel by a call of its own: the stream goes on and tells how the run ended. */
static void cancel(void *ctx)
{
	struct bj_client *streaming = ctx;
	AUTO_BUF struct bj_buf ignored = { 0 };
	struct bj_client other;
	struct bj_err err;
	char target[64];

	snprintf(target, sizeof(target), "/v1/executions/%s", streaming->id);
	if (bj_client_open(streaming->path, &other, &err) < 0)
		return;
	bj_client_call(&other, "DELETE", target, &ignored, &err);
	bj_client_done(&other);
}

static int follow(struct bj_client *client, const struct bj_spec *spec, struct bj_result **ret,
		  char **ret_line, struct bj_err *err)
{
	AUTO_BUF struct bj_buf event = { 0 };
	AUTO_BUF struct bj_buf data = { 0 };
	int r;

	client->wake_fd = spec->cancel_fd;
	client->on_wake = cancel;
	client->wake_ctx = client;
	while ((r = bj_client_event(client, &event, &data, err)) > 0) {
		r = handle_event(spec, event.data, &data, ret, ret_line, err);
		if (r != 0)
			return r < 0 ? r : 0;
	}
	return r < 0 ? r
		     : bj_err_set(err, BJ_E_PROTOCOL, 0, "the service went away during the run");
}

int bj_remote_run(struct bj_client *client, const struct bj_spec *spec,
		  const struct bj_settings *settings, struct bj_result **ret_result,
		  char **ret_line, struct bj_err *err)
{
	AUTO_FREE char *order = make_order(spec, settings);

	if (!order ||
	    bj_client_ask(client, "POST", "/v1/executions", "Accept: text/event-stream\r\n", order,
			  strlen(order), err) < 0 ||
	    client->status != 200 || !client->id[0])
		return 1;
	return follow(client, spec, ret_result, ret_line, err);
}
