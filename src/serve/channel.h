/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/engine.h"

/* What keeper and front say to each other: one fixed message a packet, with descriptors. The
 * keeper reads nothing of it but the kind and a sentence to print. */

enum bj_channel_kind {
	BJ_CHANNEL_ENGINE = 1, /* keeper: use this engine from now on */
	BJ_CHANNEL_STOP,       /* keeper: end within grace_ms */
	BJ_CHANNEL_READY,      /* front: the engine is in use, or err says why not */
};

struct bj_channel_msg {
	uint32_t kind;
	uint32_t parts; /* ENGINE: which descriptors come along */
	uint64_t grace_ms;
	uint32_t fronts, launchers; /* ENGINE: how many were replaced since they died */
	struct bj_err err;
};

int bj_channel_send(int channel, enum bj_channel_kind kind, uint64_t grace_ms,
		    const struct bj_err *err);

/* Send settings and parts of an engine; the sender keeps its own. @counts: a message whose numbers
 * of replaced processes go along. */
int bj_channel_send_engine(int channel, const struct bj_settings *settings,
			   const struct bj_engine_parts *parts, const struct bj_channel_msg *counts,
			   struct bj_err *err);

/* Receive one message. With BJ_CHANNEL_ENGINE come settings and parts, which the caller owns then.
 * 1: a message; 0: the other side is gone; negative: it is broken. */
int bj_channel_receive(int channel, struct bj_channel_msg *ret, struct bj_settings **ret_settings,
		       struct bj_engine_parts *ret_parts, struct bj_err *err);
