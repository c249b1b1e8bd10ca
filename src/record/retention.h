/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/record.h"

/* Forget what is older than record.keep_time, or the oldest while there is more than
 * record.keep_size, in steps of a few rows: a run that is about to begin waits for one step at
 * most. What is under way or waits stays. 1: there is more to do; 0: not now; negative: @err. */
int bj_retention_step(const struct bj_record *record, struct bj_err *err);
