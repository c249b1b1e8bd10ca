/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/order.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/nearest.h"
#include "engine/pin.h"
#include "jar/pack.h"
#include "spec/names.h"

#include <ctype.h>
#include <errno.h>
#include <sodium.h>
#include <string.h>

/* The kernel starts no program with a longer word, nor with many times as many bytes of them. */
enum { MAX_LIST = 256, WORD_MAX = 128 << 10, WORDS_MAX = 1 << 20 };

/* One reading: where it goes and what it is held against. */
struct reading {
	const struct bj_settings *settings; /* of the service, or with the profile asked for */
	struct bj_order *order;
	enum bj_problem problem;
	size_t words; /* bytes of arguments and environment */
	struct bj_err *err;
};

static int bad(struct reading *r, const char *field, const char *what)
{
	r->problem = BJ_PROBLEM_BAD_REQUEST;
	return bj_err_set(r->err, BJ_E_INVALID, 0, "%s: %s", field, what);
}

static int loosens(struct reading *r, const char *field, const char *what)
{
	r->problem = BJ_PROBLEM_LOOSENS;
	return bj_err_set(r->err, BJ_E_DENIED, 0, "%s: %s", field, what);
}

static int no_memory(struct reading *r)
{
	r->problem = BJ_PROBLEM_FAILED;
	return bj_err_set(r->err, BJ_E_SYSTEM, ENOMEM, "cannot hold the request");
}

/* A text without NUL bytes, for places that end at one. NULL: it is no such text. */
static const char *plain_text(const json_t *v)
{
	const char *text = json_string_value(v);

	return text && strlen(text) == json_string_length(v) ? text : NULL;
}

/* --- bytes ------------------------------------------------------------------------------------ */

static int decode(struct reading *r, const char *field, const json_t *v, const void **ret,
		  size_t *ret_size)
{
	const size_t length = json_string_length(v), room = length / 4 * 3 + 3;
	struct bj_order *o = r->order;
	void **list = realloc(o->decoded, (o->n_decoded + 1) * sizeof(*list));

	if (!list)
		return no_memory(r);
	o->decoded = list;

	unsigned char *bytes = malloc(room);

	if (!bytes)
		return no_memory(r);
	o->decoded[o->n_decoded++] = bytes;
	if (sodium_base642bin(bytes, room, json_string_value(v), length, NULL, ret_size, NULL,
			      sodium_base64_VARIANT_ORIGINAL) < 0)
		return bad(r, field, "base64 is not well-formed");
	*ret = bytes;
	return 0;
}

/* Bytes as text, or as an object with one of `text` and `base64`. */
static int read_bytes(struct reading *r, const char *field, const json_t *v, const void **ret,
		      size_t *ret_size)
{
	const json_t *text = json_is_string(v) ? v : json_object_get(v, "text");
	const json_t *coded = json_is_string(v) ? NULL : json_object_get(v, "base64");

	if (!json_is_string(text) == !json_is_string(coded))
		return bad(r, field, "say either text or base64, a string");
	if (coded)
		return decode(r, field, coded, ret, ret_size);
	*ret = json_string_value(text);
	*ret_size = json_string_length(text);
	return 0;
}

/* --- fields ----------------------------------------------------------------------------------- */

static int read_script(struct reading *r, const char *field, const json_t *v)
{
	if (!json_is_string(v) || json_string_length(v) == 0)
		return bad(r, field, "a text that is not empty is needed");
	r->order->spec.script = json_string_value(v);
	r->order->spec.script_size = json_string_length(v);
	return 0;
}

static int read_language(struct reading *r, const char *field, const json_t *v)
{
	const char *name = plain_text(v);
	const int language = name ? bj_language_from_name(name) : -1;

	(void)field;
	if (language < 0) {
		r->problem = BJ_PROBLEM_BAD_REQUEST;
		return bj_err_set(r->err, BJ_E_INVALID, 0,
				  "Invalid script_type: %.60s. Must be 'python' or 'bash'",
				  name ? name : "?");
	}
	r->order->spec.language = (enum bj_language)language;
	return 0;
}

static int read_profile(struct reading *r, const char *field, const json_t *v)
{
	const char *name = plain_text(v);
	struct bj_order *o = r->order;

	if (!name)
		return bad(r, field, "a name is needed");
	if (bj_settings_with_profile(r->settings, name, &o->profile, r->err) < 0) {
		r->problem = BJ_PROBLEM_BAD_REQUEST;
		return -r->err->code;
	}
	r->settings = o->profile;
	o->spec.limits = o->profile->limits;
	return 0;
}

/* A number or a text as the settings take it. */
static int number_text(const json_t *v, char *text, size_t room)
{
	int n = -1;

	if (json_is_integer(v))
		n = snprintf(text, room, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else if (json_is_real(v))
		n = snprintf(text, room, "%.3f", json_real_value(v));
	else if (plain_text(v))
		n = snprintf(text, room, "%s", plain_text(v));
	/* The beginning of a number is another one. */
	return n >= 0 && (size_t)n < room ? 0 : -1;
}

static int read_number(struct reading *r, const char *field, const json_t *v, const char *key,
		       struct bj_settings *to)
{
	char text[64];

	if (number_text(v, text, sizeof(text)) < 0)
		return bad(r, field, "a number is needed");
	r->problem = BJ_PROBLEM_BAD_REQUEST;
	return bj_settings_set_number(to, key, text, r->err);
}

static int read_timeout(struct reading *r, const char *field, const json_t *v)
{
	struct bj_settings asked = { 0 };
	const int rc = read_number(r, field, v, "limits.timeout", &asked);

	/* Longer than max_timeout is cut by the engine, and the result says so. */
	if (rc == 0)
		r->order->spec.limits.timeout_ms = asked.limits.timeout_ms;
	return rc;
}

static int read_memory(struct reading *r, const char *field, const json_t *v)
{
	struct bj_settings asked = { 0 };
	const int rc = read_number(r, field, v, "limits.memory", &asked);

	if (rc < 0)
		return rc;
	if (asked.limits.memory > r->settings->limits.memory)
		return loosens(r, field, "more than limits.memory of the service allows");
	r->order->spec.limits.memory = asked.limits.memory;
	return 0;
}

static int read_cpus(struct reading *r, const char *field, const json_t *v)
{
	struct bj_settings asked = { 0 };
	const int rc = read_number(r, field, v, "limits.cpus", &asked);

	if (rc < 0)
		return rc;
	if (asked.limits.cpu_milli > r->settings->limits.cpu_milli)
		return loosens(r, field, "more than limits.cpus of the service allows");
	r->order->spec.limits.cpu_milli = asked.limits.cpu_milli;
	return 0;
}

static int read_pids(struct reading *r, const char *field, const json_t *v)
{
	struct bj_settings asked = { 0 };
	const int rc = read_number(r, field, v, "limits.pids", &asked);

	if (rc < 0)
		return rc;
	if (asked.limits.pids > r->settings->limits.pids)
		return loosens(r, field, "more than limits.pids of the service allows");
	r->order->spec.limits.pids = asked.limits.pids;
	return 0;
}

static int read_policy(struct reading *r, const char *field, const json_t *v)
{
	const char *name = plain_text(v);
	const int policy = name ? bj_policy_from_name(name) : -1;

	if (policy < 0)
		return bad(r, field, "say default or strict");
	if (policy == BJ_POLICY_OFF ||
	    (policy == BJ_POLICY_DEFAULT && r->settings->policy == BJ_POLICY_STRICT))
		return loosens(r, field, "a request can only make the policy stricter");
	r->order->spec.policy = (enum bj_policy)policy;
	return 0;
}

static int read_backend(struct reading *r, const char *field, const json_t *v)
{
	const char *name = plain_text(v);
	const int backend = name ? bj_backend_from_name(name) : -1;

	if (backend < 0)
		return bad(r, field, "there is no such backend");
	if (backend == BJ_BACKEND_DIRECT || backend != (int)r->settings->backend)
		return loosens(r, field,
			       "only the backend of the service's settings can be asked for");
	return 0;
}

static int read_image(struct reading *r, const char *field, const json_t *v)
{
	const char *name = plain_text(v);
	struct bj_err err;

	if (!name)
		return bad(r, field, "a name is needed");

	const int place = bj_pin_place(r->settings, name, &err);

	if (place == -BJ_E_DENIED)
		return loosens(r, field, err.msg);
	if (place < 0)
		return bad(r, field, err.msg);
	/* In full, with the digest: what is held for approval means these bytes and no others. */
	r->order->spec.image = place > 0 ? r->settings->images_allow.items[place - 1] : NULL;
	return 0;
}

static int read_network(struct reading *r, const char *field, const json_t *v)
{
	const char *name = plain_text(v);

	if (!name)
		return bad(r, field, "say none");
	return strcmp(name, "none") == 0 ? 0 : loosens(r, field, "there is no network; say none");
}

static int read_trust(struct reading *r, const char *field, const json_t *v)
{
	if (!json_is_boolean(v))
		return bad(r, field, "say false");
	return json_is_false(v) ? 0 : loosens(r, field, "no request is trusted");
}

static int read_stdin(struct reading *r, const char *field, const json_t *v)
{
	const void *data = NULL;
	size_t size = 0;
	const int rc = read_bytes(r, field, v, &data, &size);

	if (rc < 0)
		return rc;
	r->order->stdin_fd = bj_fd_memfile("stdin", data, size);
	if (r->order->stdin_fd < 0) {
		bj_err_set(r->err, BJ_E_SYSTEM, -r->order->stdin_fd,
			   "cannot hold the standard input; try again later");
		r->problem = bj_problem_of(r->err);
		return -BJ_E_SYSTEM;
	}
	r->order->spec.stdin_fd = r->order->stdin_fd;
	return 0;
}

static bool is_name(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	while (isalnum((unsigned char)*name) || *name == '_')
		name++;
	return *name == '\0';
}

/* Whether a program can be started with @word beside those that were read before. */
static bool fits(struct reading *r, const char *word)
{
	const size_t size = strlen(word) + 1;

	r->words += size;
	return size <= WORD_MAX && r->words <= WORDS_MAX;
}

static int too_long(struct reading *r, const char *field)
{
	return bad(r, field, "more than 128 KiB in one text, or 1 MiB in all; use stdin or files");
}

static int read_env(struct reading *r, const char *field, const json_t *v)
{
	const size_t n = json_object_size(v);
	struct bj_order *o = r->order;
	const char *name;
	json_t *value;
	size_t i = 0;

	if (!json_is_object(v) || n > MAX_LIST)
		return bad(r, field, "an object of at most 256 texts is needed");
	o->env = calloc(n + 1, sizeof(*o->env));
	if (!o->env)
		return no_memory(r);
	json_object_foreach((json_t *)v, name, value)
	{
		const char *text = plain_text(value);

		if (!is_name(name) || !text)
			return bad(r, field, "say NAME: \"value\" for each");
		if (asprintf(&o->env[i++], "%s=%s", name, text) < 0) {
			o->env[i - 1] = NULL;
			return no_memory(r);
		}
		if (!fits(r, o->env[i - 1]))
			return too_long(r, field);
	}
	o->spec.env = (const char *const *)o->env;
	return 0;
}

static int read_args(struct reading *r, const char *field, const json_t *v)
{
	const size_t n = json_array_size(v);
	struct bj_order *o = r->order;

	if (!json_is_array(v) || n > MAX_LIST)
		return bad(r, field, "an array of at most 256 texts is needed");
	o->args = calloc(n + 1, sizeof(*o->args));
	if (!o->args)
		return no_memory(r);
	for (size_t i = 0; i < n; i++) {
		o->args[i] = plain_text(json_array_get(v, i));
		if (!o->args[i])
			return bad(r, field, "every one must be a text");
		if (!fits(r, o->args[i]))
			return too_long(r, field);
	}
	o->spec.args = o->args;
	return 0;
}

static int read_file(struct reading *r, const char *field, const json_t *v, struct bj_input *ret)
{
	const struct bj_order *o = r->order;
	const char *name = plain_text(json_object_get(v, "name"));

	if (!name || !bj_pack_name_ok(name, strlen(name)) || strcmp(name, "out") == 0)
		return bad(r, field, "each needs a name, a plain file name other than out");
	for (size_t i = 0; i < o->spec.n_inputs; i++)
		if (strcmp(o->inputs[i].name, name) == 0)
			return bad(r, field, "two have the same name");
	ret->name = name;
	return read_bytes(r, field, v, &ret->data, &ret->size);
}

static int read_files(struct reading *r, const char *field, const json_t *v)
{
	const size_t n = json_array_size(v);
	struct bj_order *o = r->order;

	if (!json_is_array(v) || n > MAX_LIST)
		return bad(r, field, "an array of at most 256 files is needed");
	o->inputs = calloc(n + 1, sizeof(*o->inputs));
	if (!o->inputs)
		return no_memory(r);
	o->spec.inputs = o->inputs;
	o->spec.n_inputs = 0;
	for (size_t i = 0; i < n; i++) {
		const int rc = read_file(r, field, json_array_get(v, i), &o->inputs[i]);

		if (rc < 0)
			return rc;
		o->spec.n_inputs++;
	}
	return 0;
}

/* In this order: the profile decides what the limits are held against. */
static const struct {
	const char *name;
	int (*read)(struct reading *r, const char *field, const json_t *v);
	bool needed;
} FIELDS[] = {
	{ "script", read_script, true },    { "language", read_language, true },
	{ "profile", read_profile, false }, { "timeout", read_timeout, false },
	{ "memory", read_memory, false },   { "cpus", read_cpus, false },
	{ "pids", read_pids, false },       { "policy", read_policy, false },
	{ "backend", read_backend, false }, { "image", read_image, false },
	{ "network", read_network, false }, { "trust", read_trust, false },
	{ "stdin", read_stdin, false },     { "env", read_env, false },
	{ "args", read_args, false },       { "files", read_files, false },
};

static int refuse_unknown(struct reading *r)
{
	const char *names[BJ_ARRAY_SIZE(FIELDS)];
	const char *key;
	json_t *value;

	for (size_t i = 0; i < BJ_ARRAY_SIZE(FIELDS); i++)
		names[i] = FIELDS[i].name;
	json_object_foreach(r->order->root, key, value)
	{
		size_t i = 0;

		while (i < BJ_ARRAY_SIZE(FIELDS) && strcmp(key, names[i]) != 0)
			i++;
		if (i < BJ_ARRAY_SIZE(FIELDS))
			continue;

		const char *near = bj_nearest(key, names, BJ_ARRAY_SIZE(FIELDS));

		r->problem = BJ_PROBLEM_BAD_REQUEST;
		if (near)
			return bj_err_set(r->err, BJ_E_INVALID, 0,
					  "there is no field %.40s; did you mean %s?", key, near);
		return bj_err_set(r->err, BJ_E_INVALID, 0,
				  "there is no field %.40s; /openapi.json lists them", key);
	}
	return 0;
}

static int read_fields(struct reading *r)
{
	int rc = refuse_unknown(r);

	for (size_t i = 0; rc == 0 && i < BJ_ARRAY_SIZE(FIELDS); i++) {
		const json_t *v = json_object_get(r->order->root, FIELDS[i].name);

		/* A null is as good as none. */
		if (v && !json_is_null(v))
			rc = FIELDS[i].read(r, FIELDS[i].name, v);
		else if (FIELDS[i].needed)
			rc = bad(r, FIELDS[i].name, "is missing");
	}
	return rc;
}

int bj_order_read(const struct belljar *bj, const char *body, size_t size, struct bj_order *ret,
		  enum bj_problem *ret_problem, struct bj_err *err)
{
	struct reading r = { .settings = bj->settings, .order = ret, .err = err };
	json_error_t why;

	*ret = (struct bj_order){ .stdin_fd = -1 };
	bj_spec_init(bj, BJ_LANG_PYTHON, &ret->spec);
	ret->root = json_loadb(body, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
	*ret_problem = BJ_PROBLEM_BAD_REQUEST;
	if (!ret->root)
		return bj_err_set(err, BJ_E_INVALID, 0, "the body is not JSON: line %d: %.100s",
				  why.line, why.text);
	if (!json_is_object(ret->root))
		return bj_err_set(err, BJ_E_INVALID, 0, "the body must be a JSON object");

	const int rc = read_fields(&r);

	*ret_problem = r.problem;
	return rc;
}

void bj_order_done(struct bj_order *o)
{
	for (size_t i = 0; o->env && o->env[i]; i++)
		free(o->env[i]);
	for (size_t i = 0; i < o->n_decoded; i++)
		free(o->decoded[i]);
	free(o->env);
	free(o->args);
	free(o->inputs);
	free(o->decoded);
	if (o->stdin_fd >= 0)
		close(o->stdin_fd);
	bj_settings_free(o->profile);
	json_decref(o->root);
	*o = (struct bj_order){ .stdin_fd = -1 };
}
