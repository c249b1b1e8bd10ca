/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Who may speak to the service. */

/* Over a Unix socket: root, and the user who started it. */
bool bj_auth_peer(int socket, uid_t owner);

/* Over TCP: whoever brings the key, in `Authorization: Bearer KEY` or `X-API-Key: KEY`; each may
 * be NULL. How long it takes says nothing about the key. */
bool bj_auth_key(const char *key, const char *authorization, const char *x_api_key);
