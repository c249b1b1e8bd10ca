/* SPDX-License-Identifier: Apache-2.0 */

/* A launch message from a front that was taken over. The first byte says which descriptors come
 * along, the rest is the message. What passes must be within every ceiling. */

#include "fuzz.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "jar/wire.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

enum kind { PIPE, SOCKET, SEALED, FILE_, N_KINDS };

static void open_kinds(int *kinds)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
	kinds[SOCKET] = pair[0];
	if (pipe2(pair, O_CLOEXEC) < 0)
		abort();
	kinds[PIPE] = pair[0];
	kinds[SEALED] = bj_fd_memfile("x", "x", 1);
	kinds[FILE_] = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void must_be_sane(const struct bj_wire_launch *m, const enum kind *given, size_t n)
{
	if (m->magic != BJ_WIRE_MAGIC || m->flags > BJ_WIRE_ALL_FLAGS ||
	    m->language > BJ_LANG_BASH || m->memory < BJ_WIRE_MEMORY_MIN ||
	    m->memory > BJ_WIRE_MEMORY_MAX || m->tmp_size > BJ_WIRE_TMP_MAX ||
	    m->timeout_ns > BJ_WIRE_TIMEOUT_NS_MAX || m->pids > BJ_WIRE_PIDS_MAX ||
	    m->cpu_milli > BJ_WIRE_CPU_MILLI_MAX || m->pids == 0 || m->cpu_milli == 0 ||
	    m->timeout_ns == 0 || m->out_files > BJ_WIRE_OUT_FILES_MAX ||
	    m->out_bytes > BJ_WIRE_OUT_BYTES_MAX || m->image >= BJ_WIRE_IMAGES)
		abort();
	if (n < BJ_WIRE_FD_FIXED || given[BJ_WIRE_FD_REPLY] != SOCKET ||
	    given[BJ_WIRE_FD_SCRIPT] != SEALED || given[BJ_WIRE_FD_SPEC] != SEALED)
		abort();
	for (size_t i = BJ_WIRE_FD_STDIN; i < BJ_WIRE_FD_FIXED; i++)
		if (given[i] != PIPE)
			abort();
	for (size_t i = BJ_WIRE_FD_FIXED; i < n; i++)
		if (given[i] != PIPE && given[i] != SEALED)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int kinds[N_KINDS] = { -1, -1, -1, -1 };
	static const enum kind right[] = { SOCKET, SEALED, SEALED, PIPE, PIPE,
					   PIPE,   PIPE,   SEALED, PIPE };
	struct bj_wire_launch msg = { 0 };
	enum kind given[BJ_WIRE_FD_MAX];
	int fds[BJ_WIRE_FD_MAX];
	struct bj_err err = { 0 };

	if (kinds[0] < 0)
		open_kinds(kinds);
	if (size < 2)
		return 0;

	/* One byte for the count, one for what is wrong: bit i turns descriptor i into another. */
	const size_t n = data[0] % (BJ_WIRE_FD_MAX + 1);

	for (size_t i = 0; i < BJ_WIRE_FD_MAX; i++) {
		given[i] = data[1] & (1u << i) ? (right[i] + 1) % N_KINDS : right[i];
		fds[i] = kinds[given[i]];
	}
	size -= 2;
	memcpy(&msg, data + 2, size < sizeof(msg) ? size : sizeof(msg));

	const int r = bj_wire_check(&msg, size, fds, n, &err);

	if (r == 0)
		must_be_sane(&msg, given, n);
	else if (err.code != -r || err.msg[0] == '\0')
		abort();
	return 0;
}
