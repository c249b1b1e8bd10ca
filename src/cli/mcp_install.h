/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* Write `belljar mcp` into the configuration of the MCP client @client, after showing it. @config:
 * the settings file that it shall use; NULL: the usual ones. @yes: do not ask. The exit status, or
 * negative with @err. */
int bj_mcp_install(const char *client, const char *config, bool yes, struct bj_err *err);
