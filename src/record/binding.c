/* SPDX-License-Identifier: Apache-2.0 */

/* What a decision holds for: a hash over everything that makes a run this run. Every part carries
 * its length, so that no two lists of parts look alike. */

#include "record/record.h"

#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void add(crypto_generichash_state *h, const void *data, size_t size)
{
	const uint64_t length = size;

	crypto_generichash_update(h, (const unsigned char *)&length, sizeof(length));
	if (size)
		crypto_generichash_update(h, data, size);
}

static void add_text(crypto_generichash_state *h, const char *text)
{
	add(h, text ? text : "", text ? strlen(text) : 0);
}

static void add_list(crypto_generichash_state *h, const char *const *list)
{
	uint64_t n = 0;

	while (list && list[n])
		n++;
	add(h, &n, sizeof(n));
	for (uint64_t i = 0; i < n; i++)
		add_text(h, list[i]);
}

/* A run does not wait for more of a file to be read than its caller may give it as inputs. */
#define READ_MAX ((off_t)64 << 20)

/* A hash of its own, so that no content looks like what comes after it. What cannot be read, or
 * grows meanwhile, is like nothing else: no decision holds for it. */
static void add_file(crypto_generichash_state *h, int fd)
{
	unsigned char hash[32];
	crypto_generichash_state own;
	char block[4096];
	off_t at = 0;
	ssize_t n;

	crypto_generichash_init(&own, NULL, 0, sizeof(hash));
	while ((n = pread(fd, block, sizeof(block), at)) > 0 && at <= READ_MAX) {
		crypto_generichash_update(&own, (const unsigned char *)block, (size_t)n);
		at += n;
	}
	crypto_generichash_final(&own, hash, sizeof(hash));
	if (n != 0)
		randombytes_buf(hash, sizeof(hash));
	add(h, hash, sizeof(hash));
}

/* What a file holds can be read again and again. Of a pipe nobody knows what will come, and of a
 * huge file nobody has looked: a decision about it holds for the run that asked, and for no other.
 */
static void add_stdin(crypto_generichash_state *h, const struct bj_spec *spec)
{
	struct stat st;

	if (spec->stdin_fd < 0) {
		add_text(h, "none");
	} else if (fstat(spec->stdin_fd, &st) == 0 && S_ISREG(st.st_mode) &&
		   st.st_size <= READ_MAX) {
		add_text(h, "file");
		add_file(h, spec->stdin_fd);
	} else {
		add_text(h, "stream");
		add_text(h, spec->id);
	}
}

static void add_numbers(crypto_generichash_state *h, const struct bj_spec *spec)
{
	const struct bj_limits *l = &spec->limits;
	const uint64_t numbers[] = {
		spec->language, spec->backend, spec->policy,  spec->trust, l->memory,
		l->cpu_milli,   l->pids,       l->timeout_ms, l->tmp_size, l->max_output,
		l->output_cap,  l->out_files,  l->out_bytes,
	};

	add(h, numbers, sizeof(numbers));
}

void bj_record_binding(const struct bj_spec *spec, char ret[65])
{
	const uint64_t n_inputs = spec->n_inputs;
	unsigned char hash[32];
	crypto_generichash_state h;

	crypto_generichash_init(&h, NULL, 0, sizeof(hash));
	add(&h, spec->script, spec->script_size);
	add_numbers(&h, spec);
	add_list(&h, spec->args);
	add_list(&h, spec->env);
	add(&h, &n_inputs, sizeof(n_inputs));
	for (size_t i = 0; i < spec->n_inputs; i++) {
		add_text(&h, spec->inputs[i].name);
		add(&h, spec->inputs[i].data, spec->inputs[i].size);
	}
	add_stdin(&h, spec);
	add_text(&h, spec->image);
	add(&h, spec->seccomp, spec->seccomp_size);
	crypto_generichash_final(&h, hash, sizeof(hash));
	sodium_bin2hex(ret, 65, hash, sizeof(hash));
}
