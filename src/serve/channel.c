/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/channel.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"

#include <string.h>
#include <sys/socket.h>

enum { FD_LAUNCHER, FD_SETTINGS, FD_FILTER, FD_MAX, BLOB_MAX = 4 << 20 };

int bj_channel_send(int channel, enum bj_channel_kind kind, uint64_t grace_ms,
		    const struct bj_err *err)
{
	struct bj_channel_msg msg = { .kind = kind, .grace_ms = grace_ms };

	if (err)
		msg.err = *err;
	return bj_fd_send(channel, &msg, sizeof(msg), NULL, 0);
}

int bj_channel_send_engine(int channel, const struct bj_settings *settings,
			   const struct bj_engine_parts *parts, struct bj_err *err)
{
	const struct bj_channel_msg msg = { .kind = BJ_CHANNEL_ENGINE };
	AUTO_BUF struct bj_buf bytes = { .max = BLOB_MAX };

	bj_settings_pack(settings, &bytes);
	if (bytes.failed)
		return bj_err_set(err, BJ_E_LIMIT, 0, "the settings are too large to pass on");

	AUTO_FD int blob = bj_fd_memfile("settings", bytes.data, bytes.size);
	AUTO_FD int filter =
		parts->filter.size ? bj_fd_memfile("filter", parts->filter.data, parts->filter.size)
				   : -1;
	const int fds[] = { parts->launcher, blob, filter };

	if (blob < 0 || (parts->filter.size && filter < 0))
		return bj_err_set(err, BJ_E_SYSTEM, 0, "cannot pass on the settings");

	const int r = bj_fd_send(channel, &msg, sizeof(msg), fds, filter < 0 ? 2 : 3);

	return r < 0 ? bj_err_set(err, BJ_E_SYSTEM, -r, "the front does not listen") : 0;
}

static int read_engine(const int *fds, size_t n_fds, struct bj_settings **ret_settings,
		       struct bj_engine_parts *ret_parts, struct bj_err *err)
{
	AUTO_BUF struct bj_buf bytes = { .max = BLOB_MAX };
	struct bj_engine_parts parts = { .launcher = -1 };

	parts.filter.max = BLOB_MAX;
	if (n_fds < FD_FILTER || lseek(fds[FD_SETTINGS], 0, SEEK_SET) < 0 ||
	    bj_fd_read_all(fds[FD_SETTINGS], &bytes) < 0)
		return bj_err_set(err, BJ_E_PROTOCOL, 0, "the settings did not arrive");
	if (n_fds > FD_FILTER && (lseek(fds[FD_FILTER], 0, SEEK_SET) < 0 ||
				  bj_fd_read_all(fds[FD_FILTER], &parts.filter) < 0)) {
		bj_engine_parts_done(&parts);
		return bj_err_set(err, BJ_E_PROTOCOL, 0, "the seccomp profile did not arrive");
	}

	const int r =
		bj_settings_unpack(bytes.data ? bytes.data : "", bytes.size, ret_settings, err);

	if (r < 0) {
		bj_engine_parts_done(&parts);
		return r;
	}
	parts.launcher = fds[FD_LAUNCHER];
	*ret_parts = parts;
	return 0;
}

int bj_channel_receive(int channel, struct bj_channel_msg *ret, struct bj_settings **ret_settings,
		       struct bj_engine_parts *ret_parts, struct bj_err *err)
{
	int fds[FD_MAX] = { -1, -1, -1 };
	size_t n_fds = 0;
	const ssize_t n = bj_fd_recv(channel, ret, sizeof(*ret), fds, FD_MAX, &n_fds, 0);
	int r = 1;

	if (n <= 0)
		return 0;
	ret->err.msg[sizeof(ret->err.msg) - 1] = '\0';
	if (n != sizeof(*ret))
		r = bj_err_set(err, BJ_E_PROTOCOL, 0, "a message of the wrong size");
	else if (ret->kind == BJ_CHANNEL_ENGINE && ret_settings)
		r = read_engine(fds, n_fds, ret_settings, ret_parts, err) < 0 ? -err->code : 1;
	for (size_t i = 0; i < n_fds; i++)
		if (i != FD_LAUNCHER || r < 0 || ret->kind != BJ_CHANNEL_ENGINE || !ret_settings)
			close(fds[i]);
	return r;
}
