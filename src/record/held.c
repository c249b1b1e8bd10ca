/* SPDX-License-Identifier: Apache-2.0 */
#include "record/held.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>

enum { VARIANT = sodium_base64_VARIANT_ORIGINAL, MAX_LIST = 1024 };

/* --- packing ---------------------------------------------------------------------------------- */

static json_t *coded(const void *data, size_t size)
{
	const size_t room = sodium_base64_encoded_len(size, VARIANT);
	AUTO_FREE char *text = malloc(room);

	if (!text)
		return NULL;
	sodium_bin2base64(text, room, data, size, VARIANT);
	return json_string(text);
}

static json_t *coded_list(const char *const *list)
{
	json_t *array = json_array();

	for (size_t i = 0; list && list[i]; i++)
		json_array_append_new(array, coded(list[i], strlen(list[i])));
	return array;
}

static json_t *coded_inputs(const struct bj_spec *spec)
{
	json_t *array = json_array();

	for (size_t i = 0; i < spec->n_inputs; i++)
		json_array_append_new(array,
				      json_pack("{s:s, s:o}", "name", spec->inputs[i].name, "data",
						coded(spec->inputs[i].data, spec->inputs[i].size)));
	return array;
}

static int read_stdin(int fd, json_t **ret, struct bj_err *err)
{
	AUTO_BUF struct bj_buf text = { .max = BJ_HELD_MAX };
	struct stat st;
	char block[4096];
	off_t at = 0;
	ssize_t n;

	*ret = json_null();
	if (fd < 0)
		return 0;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return bj_err_set(
			err, BJ_E_UNSUPPORTED, 0,
			"a run that reads a stream cannot wait for approval; give a file");
	while ((n = pread(fd, block, sizeof(block), at)) > 0) {
		bj_buf_add(&text, block, (size_t)n);
		at += n;
	}
	if (n < 0 || text.failed)
		return bj_err_set(err, BJ_E_LIMIT, n < 0 ? errno : EFBIG,
				  "cannot hold the standard input of a run that waits");
	*ret = coded(text.data ? text.data : "", text.size);
	return 0;
}

static json_t *numbers(const struct bj_spec *s)
{
	const struct bj_limits *l = &s->limits;
	const uint64_t list[] = {
		s->language,   s->backend,       s->policy,    s->trust,
		s->through,    s->declared_risk, l->memory,    l->cpu_milli,
		l->pids,       l->timeout_ms,    l->tmp_size,  l->max_output,
		l->output_cap, l->out_files,     l->out_bytes, s->timeout_asked_ms
	};
	json_t *array = json_array();

	for (size_t i = 0; i < BJ_ARRAY_SIZE(list); i++)
		json_array_append_new(array, json_integer((json_int_t)list[i]));
	return array;
}

int bj_held_pack(const struct bj_spec *s, struct bj_buf *ret, struct bj_err *err)
{
	json_t *in = NULL;
	const int r = read_stdin(s->stdin_fd, &in, err);

	if (r < 0)
		return r;

	json_t *object =
		json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s?, s:s?, s:s?, s:s?, s:s?}", "id",
			  s->id, "script", coded(s->script, s->script_size), "numbers", numbers(s),
			  "args", coded_list(s->args), "env", coded_list(s->env), "inputs",
			  coded_inputs(s), "stdin", in, "name", s->name, "tenant", s->tenant,
			  "actor", s->actor, "tool", s->tool, "image", s->image);
	AUTO_FREE char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;

	json_decref(object);
	if (!text || strlen(text) > BJ_HELD_MAX)
		return bj_err_set(err, BJ_E_LIMIT, text ? EFBIG : ENOMEM,
				  "cannot hold a run that waits");
	bj_buf_puts(ret, text);
	return ret->failed ? bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot hold a run that waits")
			   : 0;
}

/* --- unpacking -------------------------------------------------------------------------------- */

static const void *decode(struct bj_held *h, const json_t *v, size_t *ret_size)
{
	const size_t length = json_string_length(v), room = length / 4 * 3 + 4;
	unsigned char *bytes = json_is_string(v) ? malloc(room) : NULL;
	void **list = bytes ? realloc(h->blobs, (h->n_blobs + 1) * sizeof(*list)) : NULL;
	size_t size = 0;

	if (list)
		h->blobs = list;
	if (!list || sodium_base642bin(bytes, room - 1, json_string_value(v), length, NULL, &size,
				       NULL, VARIANT) < 0) {
		free(bytes);
		return NULL;
	}
	bytes[size] = '\0';
	h->blobs[h->n_blobs++] = bytes;
	if (ret_size)
		*ret_size = size;
	return bytes;
}

static const char **decode_list(struct bj_held *h, const json_t *array)
{
	const size_t n = json_array_size(array);
	const char **list =
		json_is_array(array) && n <= MAX_LIST ? calloc(n + 1, sizeof(*list)) : NULL;

	for (size_t i = 0; list && i < n; i++) {
		list[i] = decode(h, json_array_get(array, i), NULL);
		if (!list[i]) {
			free(list);
			return NULL;
		}
	}
	return list;
}

static bool decode_inputs(struct bj_held *h, const json_t *array)
{
	const size_t n = json_array_size(array);

	h->inputs =
		json_is_array(array) && n <= MAX_LIST ? calloc(n + 1, sizeof(*h->inputs)) : NULL;
	for (size_t i = 0; h->inputs && i < n; i++) {
		const json_t *v = json_array_get(array, i);
		struct bj_input *in = &h->inputs[i];

		in->name = json_string_value(json_object_get(v, "name"));
		in->data = decode(h, json_object_get(v, "data"), &in->size);
		if (!in->name || !in->data)
			return false;
	}
	h->spec.inputs = h->inputs;
	h->spec.n_inputs = n;
	return h->inputs;
}

static bool decode_numbers(struct bj_spec *s, const json_t *array)
{
	struct bj_limits *l = &s->limits;
	uint64_t v[16];

	if (json_array_size(array) != BJ_ARRAY_SIZE(v))
		return false;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(v); i++)
		v[i] = (uint64_t)json_integer_value(json_array_get(array, i));
	if (v[0] > BJ_LANG_BASH || v[1] > BJ_BACKEND_DIRECT || v[2] > BJ_POLICY_OFF ||
	    v[4] > BJ_THROUGH_API || v[5] > BJ_RISK_CRITICAL)
		return false;
	s->language = (enum bj_language)v[0];
	s->backend = (enum bj_backend_id)v[1];
	s->policy = (enum bj_policy)v[2];
	s->trust = v[3];
	s->through = (enum bj_through)v[4];
	s->declared_risk = (enum bj_risk)v[5];
	*l = (struct bj_limits){ .memory = v[6],
				 .cpu_milli = (uint32_t)v[7],
				 .pids = (uint32_t)v[8],
				 .timeout_ms = v[9],
				 .tmp_size = v[10],
				 .max_output = v[11],
				 .output_cap = v[12],
				 .out_files = (uint32_t)v[13],
				 .out_bytes = v[14] };
	s->timeout_asked_ms = v[15];
	return true;
}

static bool decode_stdin(struct bj_held *h, const json_t *v)
{
	size_t size = 0;
	const void *data;

	if (json_is_null(v))
		return true;
	data = decode(h, v, &size);
	h->stdin_fd = data ? bj_fd_memfile("stdin", data, size) : -1;
	h->spec.stdin_fd = h->stdin_fd;
	return h->stdin_fd >= 0;
}

static const char *text_of(const json_t *root, const char *name)
{
	return json_string_value(json_object_get(root, name));
}

static bool decode_all(struct bj_held *h)
{
	struct bj_spec *s = &h->spec;
	const char *id = text_of(h->root, "id");

	if (!id || strlen(id) >= sizeof(s->id))
		return false;
	memcpy(s->id, id, strlen(id) + 1);
	s->script = decode(h, json_object_get(h->root, "script"), &s->script_size);
	h->args = decode_list(h, json_object_get(h->root, "args"));
	h->env = decode_list(h, json_object_get(h->root, "env"));
	s->args = h->args && h->args[0] ? h->args : NULL;
	s->env = h->env && h->env[0] ? h->env : NULL;
	s->name = text_of(h->root, "name");
	s->tenant = text_of(h->root, "tenant");
	s->actor = text_of(h->root, "actor");
	s->tool = text_of(h->root, "tool");
	s->image = text_of(h->root, "image");
	return s->script && h->args && h->env &&
	       decode_inputs(h, json_object_get(h->root, "inputs")) &&
	       decode_numbers(s, json_object_get(h->root, "numbers")) &&
	       decode_stdin(h, json_object_get(h->root, "stdin"));
}

int bj_held_unpack(const char *data, size_t size, struct bj_held *ret, struct bj_err *err)
{
	*ret = (struct bj_held){ .stdin_fd = -1,
				 .spec = { .stdin_fd = -1, .out_dir_fd = -1, .cancel_fd = -1 } };
	ret->root = json_loadb(data, size, 0, NULL);
	if (!ret->root || !decode_all(ret))
		return bj_err_set(err, BJ_E_PROTOCOL, 0, "the run that waited cannot be read back");
	return 0;
}

void bj_held_done(struct bj_held *h)
{
	for (size_t i = 0; i < h->n_blobs; i++)
		free(h->blobs[i]);
	free(h->blobs);
	free(h->args);
	free(h->env);
	free(h->inputs);
	if (h->stdin_fd >= 0)
		close(h->stdin_fd);
	json_decref(h->root);
	*h = (struct bj_held){ .stdin_fd = -1 };
}
