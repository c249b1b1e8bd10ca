/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* Bring the loopback of the calling process's network namespace up: the only network a jar has. */
int bj_net_loopback_up(struct bj_err *err);
