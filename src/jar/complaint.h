/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "jar/wire.h"

/* What `bash -n` says about a script, for the verdict. */

/* Read from @fd until its end; keep what fits into @said, which ends with NUL. */
void bj_complaint_hear(int fd, char *said, size_t size);

/* Turn it into a verdict: "PATH: line N: MESSAGE", first line only. @said is changed. */
void bj_complaint_parse(const char *script, char *said, struct bj_wire_verdict *verdict);

/* Whether the script may switch extglob on. It may use it from the next line then, but `bash -n`
 * does not execute the switch: ask again with it on. */
bool bj_complaint_extglob(const char *script);
