/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/tool.h"

#include "base/cleanup.h"
#include "tool/run.h"

#include <string.h>

static const char *const SCRIPT_TYPES[] = { "python", "bash", NULL };

#define TIMEOUT_HELP                                                                               \
	"Seconds the script may run, more than zero. Longer than the service allows is cut to "    \
	"what it allows, and the answer says so. Left out: the service's default, usually 60."

/* The result object, as far as a program can rely on it. More members may come. */
#define RESULT_SCHEMA                                                                              \
	"{\"type\":\"object\",\"properties\":{"                                                    \
	"\"id\":{\"type\":\"string\",\"description\":\"the run's id\"},"                           \
	"\"state\":{\"type\":\"string\"},"                                                         \
	"\"cause\":{\"type\":[\"string\",\"null\"],\"description\":\"why it ended: exited, "       \
	"signal, timeout, "                                                                        \
	"oom, pids, output, seccomp, cancelled, denied, expired, quota, rejected, "                \
	"infrastructure\"},"                                                                       \
	"\"success\":{\"type\":\"boolean\"},"                                                      \
	"\"stdout\":{\"type\":\"string\"},\"stderr\":{\"type\":\"string\"},"                       \
	"\"exit_code\":{\"type\":[\"integer\",\"null\"]},"                                         \
	"\"signal\":{\"type\":[\"integer\",\"null\"]},"                                            \
	"\"timeout\":{\"type\":\"boolean\"},"                                                      \
	"\"validation_failed\":{\"type\":\"boolean\"},"                                            \
	"\"validation_error\":{\"type\":[\"string\",\"null\"]},"                                   \
	"\"error\":{\"type\":[\"string\",\"null\"]},"                                              \
	"\"findings\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"                       \
	"\"risk\":{\"type\":\"object\"},"                                                          \
	"\"duration_ms\":{\"type\":\"number\"},"                                                   \
	"\"usage\":{\"type\":\"object\"},\"meta\":{\"type\":\"object\"}},"                         \
	"\"required\":[\"id\",\"state\",\"cause\",\"success\",\"stdout\",\"stderr\","              \
	"\"exit_code\",\"timeout\",\"validation_failed\",\"findings\"]}"

#define CHECK_SCHEMA                                                                               \
	"{\"type\":\"object\",\"properties\":{"                                                    \
	"\"valid\":{\"type\":\"boolean\",\"description\":\"nothing would keep it from running\"}," \
	"\"error\":{\"type\":[\"string\",\"null\"]},"                                              \
	"\"findings\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"                       \
	"\"risk\":{\"type\":\"object\"}},"                                                         \
	"\"required\":[\"valid\",\"error\",\"findings\",\"risk\"]}"

#define RECALL_SCHEMA                                                                              \
	"{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},"                       \
	"\"state\":{\"type\":\"string\"},\"result\":{\"type\":[\"object\",\"null\"]}},"            \
	"\"required\":[\"id\",\"state\",\"result\"]}"

#define ARTIFACTS_SCHEMA                                                                           \
	"{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},"                       \
	"\"artifacts\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"        \
	"\"name\":{\"type\":\"string\"},\"bytes\":{\"type\":\"integer\"}}}}},"                     \
	"\"required\":[\"id\",\"artifacts\"]}"

#define ARTIFACT_SCHEMA                                                                            \
	"{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},"                     \
	"\"offset\":{\"type\":\"integer\"},\"bytes\":{\"type\":\"integer\"},"                      \
	"\"more\":{\"type\":\"boolean\"},\"text\":{\"type\":\"string\"}},"                         \
	"\"required\":[\"name\",\"offset\",\"bytes\",\"more\",\"text\"]}"

#define ID_HELP "The id of the run, as the answer of the tool that started it gives it."

#define SEALED_HELP                                                                                \
	"It runs sealed off: no network, an empty private working directory, read-only system, "   \
	"limits on memory, CPU, processes and time. Nothing is kept between calls. "

const struct bj_tool bj_tools[] = {
	{ .name = "execute_script",
	  .title = "Run a script",
	  .help = "Run a Python or Bash script and get back its output, exit code and what went "
		  "wrong. " SEALED_HELP
		  "The script is checked first; one that holds secrets or dangerous calls is "
		  "refused, with the line and the reason. A person may have to approve it.",
	  .risk = BJ_RISK_HIGH,
	  .runs = true,
	  .asks = true,
	  .params = { { "script_content", BJ_TOOL_TEXT, true, NULL,
			"The whole text of the script. Print what you want to see." },
		      { "script_type", BJ_TOOL_TEXT, true, SCRIPT_TYPES,
			"The language of the script: python or bash." },
		      { "timeout", BJ_TOOL_NUMBER, false, NULL, TIMEOUT_HELP } },
	  .output = RESULT_SCHEMA,
	  .call = bj_tool_execute },
	{ .name = "run_python_code",
	  .title = "Run Python code",
	  .help = "Run Python code and get back what it prints. " SEALED_HELP
		  "Use print() for results: the value of the last line is not shown by itself.",
	  .risk = BJ_RISK_MEDIUM,
	  .runs = true,
	  .params = { { "code", BJ_TOOL_TEXT, true, NULL,
			"The Python code. Print what you want to see." },
		      { "timeout", BJ_TOOL_NUMBER, false, NULL, TIMEOUT_HELP } },
	  .output = RESULT_SCHEMA,
	  .call = bj_tool_run_python },
	{ .name = "check_script",
	  .title = "Check a script",
	  .help = "Check a Python or Bash script without running it: syntax, secrets, dangerous "
		  "calls, imports, size. Says what would keep it from running, line by line, and "
		  "how risky it is.",
	  .risk = BJ_RISK_LOW,
	  .read_only = true,
	  .params = { { "script_content", BJ_TOOL_TEXT, true, NULL,
			"The whole text of the script." },
		      { "script_type", BJ_TOOL_TEXT, true, SCRIPT_TYPES,
			"The language of the script: python or bash." } },
	  .output = CHECK_SCHEMA,
	  .call = bj_tool_check },
	{ .name = "read_result",
	  .title = "Read the result of a run",
	  .help = "Read the result of an earlier run by its id: use it after a script had to wait "
		  "for a person's approval, or when an answer was lost. Says so when the run still "
		  "waits or has not ended.",
	  .risk = BJ_RISK_LOW,
	  .params = { { "id", BJ_TOOL_TEXT, true, NULL, ID_HELP } },
	  .output = RECALL_SCHEMA,
	  .call = bj_tool_read_result },
	{ .name = "list_artifacts",
	  .title = "List what a run left",
	  .help = "List the artifacts that are kept of a run: its full output where the result "
		  "holds less, and the files that it wrote into out/, with their sizes.",
	  .risk = BJ_RISK_LOW,
	  .read_only = true,
	  .params = { { "id", BJ_TOOL_TEXT, true, NULL, ID_HELP } },
	  .output = ARTIFACTS_SCHEMA,
	  .call = bj_tool_list_artifacts },
	{ .name = "read_artifact",
	  .title = "Read what a run left",
	  .help = "Read one artifact of a run as text, a part at a time: the answer says whether "
		  "there is more and from which byte on to ask.",
	  .risk = BJ_RISK_LOW,
	  .read_only = true,
	  .params = { { "id", BJ_TOOL_TEXT, true, NULL, ID_HELP },
		      { "name", BJ_TOOL_TEXT, true, NULL,
			"The name of the artifact, as list_artifacts gives it." },
		      { "offset", BJ_TOOL_COUNT, false, NULL,
			"The byte to begin at. Left out: the first one." } },
	  .output = ARTIFACT_SCHEMA,
	  .call = bj_tool_read_artifact },
};
const size_t bj_tools_size = BJ_ARRAY_SIZE(bj_tools);

const struct bj_tool *bj_tool_find(const char *name)
{
	for (size_t i = 0; i < bj_tools_size; i++)
		if (strcmp(bj_tools[i].name, name) == 0)
			return &bj_tools[i];
	return NULL;
}
