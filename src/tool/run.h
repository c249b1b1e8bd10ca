/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tool/tool.h"

/* What the tools do. Private to src/tool; the arguments fit the table already. */
int bj_tool_execute(const struct bj_tool_call *call, struct bj_tool_answer *ret,
		    struct bj_err *err);
int bj_tool_run_python(const struct bj_tool_call *call, struct bj_tool_answer *ret,
		       struct bj_err *err);
int bj_tool_check(const struct bj_tool_call *call, struct bj_tool_answer *ret, struct bj_err *err);

int bj_tool_read_result(const struct bj_tool_call *call, struct bj_tool_answer *ret,
			struct bj_err *err);
int bj_tool_list_artifacts(const struct bj_tool_call *call, struct bj_tool_answer *ret,
			   struct bj_err *err);
int bj_tool_read_artifact(const struct bj_tool_call *call, struct bj_tool_answer *ret,
			  struct bj_err *err);

/* How long the text of @call may be. */
size_t bj_tool_max_text(const struct bj_tool_call *call);

/* The answer to wrong arguments. */
int bj_tool_refuse(struct bj_tool_answer *ret, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
