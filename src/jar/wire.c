/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/wire.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"

#include <errno.h>
#include <linux/filter.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* The numbers of a launch and the range each may have. */
struct range {
	const char *name;
	uint64_t value, min, max;
};

static int check_ranges(const struct bj_wire_launch *m, struct bj_err *err)
{
	const struct range ranges[] = {
		{ "magic", m->magic, BJ_WIRE_MAGIC, BJ_WIRE_MAGIC },
		{ "version", m->version, BJ_WIRE_VERSION, BJ_WIRE_VERSION },
		{ "flags", m->flags, 0, BJ_WIRE_ALL_FLAGS },
		{ "language", m->language, BJ_LANG_PYTHON, BJ_LANG_BASH },
		{ "memory", m->memory, BJ_WIRE_MEMORY_MIN, BJ_WIRE_MEMORY_MAX },
		{ "tmp size", m->tmp_size, 4096, BJ_WIRE_TMP_MAX },
		{ "timeout", m->timeout_ns, 1, BJ_WIRE_TIMEOUT_NS_MAX },
		{ "cpu", m->cpu_milli, 1, BJ_WIRE_CPU_MILLI_MAX },
		{ "pids", m->pids, 1, BJ_WIRE_PIDS_MAX },
		{ "out files", m->out_files, 0, BJ_WIRE_OUT_FILES_MAX },
		{ "out bytes", m->out_bytes, 0, BJ_WIRE_OUT_BYTES_MAX },
		{ "image", m->image, 0, BJ_WIRE_IMAGES - 1 },
	};

	for (size_t i = 0; i < BJ_ARRAY_SIZE(ranges); i++)
		if (ranges[i].value < ranges[i].min || ranges[i].value > ranges[i].max)
			return bj_err_set(err, BJ_E_PROTOCOL, 0, "launch message: bad %s",
					  ranges[i].name);
	return 0;
}

static bool is_type(int fd, mode_t type)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == type;
}

static bool is_reply_socket(int fd)
{
	int domain = 0, type = 0;
	socklen_t len = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET;
}

/* A sealed memory file of at most @max bytes. */
static bool is_sealed_file(int fd, uint64_t max)
{
	struct stat st;

	return bj_fd_is_sealed(fd) && fstat(fd, &st) == 0 && (uint64_t)st.st_size <= max;
}

/* What a script gets as descriptors are pipes and nothing else. A file could be opened again for
 * writing through /proc/self/fd, a directory walked, a terminal typed into. */
static bool all_pipes(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!is_type(fds[i], S_IFIFO))
			return false;
	return true;
}

static int check_fds(const struct bj_wire_launch *m, const int *fds, struct bj_err *err)
{
	size_t next = BJ_WIRE_FD_FIXED;
	const char *bad = NULL;

	if (!is_reply_socket(fds[BJ_WIRE_FD_REPLY]))
		bad = "reply socket";
	else if (!is_sealed_file(fds[BJ_WIRE_FD_SCRIPT], BJ_WIRE_SCRIPT_MAX))
		bad = "script";
	else if (!is_sealed_file(fds[BJ_WIRE_FD_SPEC], BJ_WIRE_SPEC_MAX))
		bad = "spec";
	else if (!all_pipes(fds + BJ_WIRE_FD_STDIN, BJ_WIRE_FD_FIXED - BJ_WIRE_FD_STDIN))
		bad = "a stream";
	else if ((m->flags & BJ_WIRE_HAS_SECCOMP) &&
		 !is_sealed_file(fds[next++], BJ_WIRE_FILTER_MAX * sizeof(struct sock_filter)))
		bad = "filter";
	else if ((m->flags & BJ_WIRE_HAS_OUT) && !is_type(fds[next], S_IFIFO))
		bad = "out";
	if (bad)
		return bj_err_set(err, BJ_E_PROTOCOL, 0, "launch message: bad descriptor for %s",
				  bad);
	return 0;
}

int bj_wire_check(const struct bj_wire_launch *msg, size_t size, const int *fds, size_t n_fds,
		  struct bj_err *err)
{
	if (size != sizeof(*msg))
		return bj_err_set(err, BJ_E_PROTOCOL, 0, "launch message: bad size");

	const int r = check_ranges(msg, err);

	if (r < 0)
		return r;

	const size_t want = (size_t)BJ_WIRE_FD_FIXED + !!(msg->flags & BJ_WIRE_HAS_SECCOMP) +
			    !!(msg->flags & BJ_WIRE_HAS_OUT);

	if (n_fds != want)
		return bj_err_set(err, BJ_E_PROTOCOL, 0, "launch message: bad descriptor count");
	return check_fds(msg, fds, err);
}

bool bj_wire_is_census(const struct bj_wire_launch *msg, size_t size, const int *fds, size_t n_fds)
{
	return size == sizeof(*msg) && msg->magic == BJ_WIRE_MAGIC &&
	       msg->version == BJ_WIRE_VERSION && msg->flags == BJ_WIRE_CENSUS && n_fds == 1 &&
	       is_reply_socket(fds[BJ_WIRE_FD_REPLY]);
}
