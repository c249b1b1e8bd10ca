/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/auth.h"

#include "base/clock.h"
#include "record/record.h"

#include <sodium.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define TRUST_NS UINT64_C(1000000000) /* between two looks at a key */

bool bj_auth_peer(int socket, uid_t owner, uid_t *ret_uid)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return false;
	*ret_uid = peer.uid;
	return peer.uid == 0 || peer.uid == owner;
}

/* Hashes of one length are compared, so that neither length nor content shows in the time. */
static bool same(const char *a, const char *b)
{
	unsigned char ha[32], hb[32];

	crypto_generichash(ha, sizeof(ha), (const unsigned char *)a, strlen(a), NULL, 0);
	crypto_generichash(hb, sizeof(hb), (const unsigned char *)b, strlen(b), NULL, 0);
	return sodium_memcmp(ha, hb, sizeof(ha)) == 0;
}

bool bj_auth_key(const char *key, const char *authorization, const char *x_api_key)
{
	static const char bearer[] = "Bearer ";

	if (!key || key[0] == '\0')
		return false;
	if (authorization && strncasecmp(authorization, bearer, sizeof(bearer) - 1) == 0)
		return same(key, authorization + sizeof(bearer) - 1);
	return x_api_key && same(key, x_api_key);
}

bool bj_auth_may(const struct bj_caller *caller, unsigned int roles)
{
	if (!caller || roles & BJ_AUTH_PUBLIC)
		return true;
	if (roles & BJ_AUTH_OPERATORS && caller->tenant[0])
		return false;
	return caller->roles & (roles | BJ_ROLE_ADMIN);
}

bool bj_auth_sees(const struct bj_caller *caller, const char *tenant)
{
	return !caller || !caller->tenant[0] || (tenant && strcmp(caller->tenant, tenant) == 0);
}

const char *bj_auth_tenant(const struct bj_caller *caller)
{
	return caller && caller->tenant[0] ? caller->tenant : NULL;
}

struct bj_auth_trust bj_auth_trust(struct bj_archive *archive, const struct bj_caller *caller)
{
	struct bj_auth_trust trust = { .archive = archive, .until = bj_clock_now() + TRUST_NS };

	if (caller)
		memcpy(trust.key, caller->key, sizeof(trust.key));
	return trust;
}

/* Where the records cannot say so, too, it counts as lost. */
bool bj_auth_trust_lost(struct bj_auth_trust *trust)
{
	const uint64_t now = bj_clock_now();
	struct bj_err err = { 0 };

	if (!trust->key[0] || !trust->archive || now < trust->until)
		return false;
	trust->until = now + TRUST_NS;
	return bj_key_stands(&trust->archive->store, trust->key, &err) < 0;
}
