/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/channel.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"

#include <string.h>
#include <sys/socket.h>

/* Settings, filter when there is one, then the sockets of the engine's processes by backend. */
enum { FD_SETTINGS, FD_FILTER, FD_MAX = 2 + BJ_ENGINE_PROCESSES, BLOB_MAX = 4 << 20 };
enum { HAS_FILTER = 1 << BJ_ENGINE_PROCESSES };

int bj_channel_send(int channel, enum bj_channel_kind kind, uint64_t grace_ms,
		    const struct bj_err *err)
{
	struct bj_channel_msg msg = { .kind = kind, .grace_ms = grace_ms };

	if (err)
		msg.err = *err;
	return bj_fd_send(channel, &msg, sizeof(msg), NULL, 0);
}

int bj_channel_send_engine(int channel, const struct bj_settings *settings,
			   const struct bj_engine_parts *parts, const struct bj_channel_msg *counts,
			   struct bj_err *err)
{
	struct bj_channel_msg msg = { .kind = BJ_CHANNEL_ENGINE,
				      .fronts = counts->fronts,
				      .launchers = counts->launchers };
	AUTO_BUF struct bj_buf bytes = { .max = BLOB_MAX };

	bj_settings_pack(settings, &bytes);
	if (bytes.failed)
		return bj_err_set(err, BJ_E_LIMIT, 0, "the settings are too large to pass on");

	const bool has_filter = parts->filter.size > 0;
	AUTO_FD int blob = bj_fd_memfile("settings", bytes.data, bytes.size);
	AUTO_FD int filter =
		has_filter ? bj_fd_memfile("filter", parts->filter.data, parts->filter.size) : -1;
	int fds[FD_MAX] = { blob, filter };
	size_t n = has_filter ? 2 : 1;

	if (blob < 0 || (has_filter && filter < 0))
		return bj_err_set(err, BJ_E_SYSTEM, 0, "cannot pass on the settings");
	msg.parts = has_filter ? (uint32_t)HAS_FILTER : 0;
	for (int i = 0; i < BJ_ENGINE_PROCESSES; i++)
		if (parts->control[i] >= 0) {
			msg.parts |= 1u << i;
			fds[n++] = parts->control[i];
		}

	const int r = bj_fd_send(channel, &msg, sizeof(msg), fds, n);

	return r < 0 ? bj_err_set(err, BJ_E_SYSTEM, -r, "the front does not listen") : 0;
}

static int read_blob(int fd, struct bj_buf *buf)
{
	buf->max = BLOB_MAX;
	return lseek(fd, 0, SEEK_SET) < 0 ? -1 : bj_fd_read_all(fd, buf);
}

/* Sort the descriptors that came: those of processes go to @ret_parts and are marked as taken. */
static int read_engine(uint32_t has, int *fds, size_t n_fds, struct bj_settings **ret_settings,
		       struct bj_engine_parts *ret_parts, struct bj_err *err)
{
	AUTO_BUF struct bj_buf bytes = { 0 };
	struct bj_engine_parts parts = BJ_ENGINE_NO_PARTS;
	size_t n = has & HAS_FILTER ? 2 : 1;

	for (int i = 0; i < BJ_ENGINE_PROCESSES; i++)
		if (has & 1u << i && n < n_fds)
			parts.control[i] = bj_take_fd(&fds[n++]);

	int r = n_fds >= n && read_blob(fds[FD_SETTINGS], &bytes) == 0 &&
				(!(has & HAS_FILTER) ||
				 read_blob(fds[FD_FILTER], &parts.filter) == 0)
			? 0
			: bj_err_set(err, BJ_E_PROTOCOL, 0, "the settings did not arrive");

	if (r == 0)
		r = bj_settings_unpack(bytes.data ? bytes.data : "", bytes.size, ret_settings, err);
	if (r < 0) {
		bj_engine_parts_done(&parts);
		return r;
	}
	*ret_parts = parts;
	return 0;
}

int bj_channel_receive(int channel, struct bj_channel_msg *ret, struct bj_settings **ret_settings,
		       struct bj_engine_parts *ret_parts, struct bj_err *err)
{
	int fds[FD_MAX];
	size_t n_fds = 0;
	const ssize_t n = bj_fd_recv(channel, ret, sizeof(*ret), fds, FD_MAX, &n_fds, 0);
	int r = 1;

	if (n <= 0)
		return 0;
	ret->err.msg[sizeof(ret->err.msg) - 1] = '\0';
	if (n != sizeof(*ret))
		r = bj_err_set(err, BJ_E_PROTOCOL, 0, "a message of the wrong size");
	else if (ret->kind == BJ_CHANNEL_ENGINE && ret_settings &&
		 read_engine(ret->parts, fds, n_fds, ret_settings, ret_parts, err) < 0)
		r = -err->code;
	for (size_t i = 0; i < n_fds; i++)
		if (fds[i] >= 0)
			bj_fd_drop(fds[i]);
	return r;
}
