/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "config/settings.h"
#include "record/audit.h"

/* Write down in the audit log which settings come into force: their hash, and the keys whose values
 * differ from those of *@before (bj_settings_pack(); empty: the first ones), which they replace.
 * Values are not told: some are secret. The same settings again are not written down. */
int bj_reload_note(struct bj_audit *audit, const struct bj_settings *settings,
		   struct bj_buf *before, struct bj_err *err);
