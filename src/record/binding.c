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

/* What a file holds can be read again and again; a pipe cannot, and stands for itself. */
static void add_stdin(crypto_generichash_state *h, int fd)
{
	struct stat st;
	char block[4096];
	off_t at = 0;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		add_text(h, fd < 0 ? "none" : "stream");
		return;
	}
	while ((n = pread(fd, block, sizeof(block), at)) > 0) {
		add(h, block, (size_t)n);
		at += n;
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
	unsigned char hash[32];
	crypto_generichash_state h;

	crypto_generichash_init(&h, NULL, 0, sizeof(hash));
	add(&h, spec->script, spec->script_size);
	add_numbers(&h, spec);
	add_list(&h, spec->args);
	add_list(&h, spec->env);
	for (size_t i = 0; i < spec->n_inputs; i++) {
		add_text(&h, spec->inputs[i].name);
		add(&h, spec->inputs[i].data, spec->inputs[i].size);
	}
	add_stdin(&h, spec->stdin_fd);
	add_text(&h, spec->image);
	add(&h, spec->seccomp, spec->seccomp_size);
	crypto_generichash_final(&h, hash, sizeof(hash));
	sodium_bin2hex(ret, 65, hash, sizeof(hash));
}
