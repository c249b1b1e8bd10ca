/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/tenant.h"

#include <stdbool.h>
#include <sys/types.h>

/* Who may speak to the service. */

/* Over a Unix socket: root, and the user who started it. */
bool bj_auth_peer(int socket, uid_t owner, uid_t *ret_uid);

/* Over TCP: whoever brings the key, in `Authorization: Bearer KEY` or `X-API-Key: KEY`; each may
 * be NULL. How long it takes says nothing about the key. */
bool bj_auth_key(const char *key, const char *authorization, const char *x_api_key);

/* What a route asks of a caller: one of several roles, and perhaps one of these. */
enum {
	BJ_AUTH_ANY = BJ_ROLE_ALL,
	BJ_AUTH_PUBLIC = 1 << 8,    /* nothing at all */
	BJ_AUTH_OPERATORS = 1 << 9, /* it shows things of all tenants: no tenant's key will do */
};

/* Whether @caller (NULL: the service itself) may use a route that asks for @roles. */
bool bj_auth_may(const struct bj_caller *caller, unsigned int roles);

/* Whether @caller may see what belongs to @tenant ("" or NULL: to none). */
bool bj_auth_sees(const struct bj_caller *caller, const char *tenant);

/* The tenant of @caller; NULL: none. */
const char *bj_auth_tenant(const struct bj_caller *caller);

/* The right of somebody who listens for a long time: a key may lose it meanwhile. */
struct bj_auth_trust {
	struct bj_archive *archive; /* NULL: there are no keys */
	char key[BJ_KEY_PREFIX];    /* "": none of the store's */
	uint64_t until;             /* clock nanoseconds: the key is not looked at before */
};

struct bj_auth_trust bj_auth_trust(struct bj_archive *archive, const struct bj_caller *caller);

/* Whether the right is lost. Looks once a second. */
bool bj_auth_trust_lost(struct bj_auth_trust *trust);
