/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "serve/exchange.h"

/* Log-ins of browsers. Whoever brings a key may open a session: a cookie that scripts cannot read
 * and other sites cannot send stands for the key from then on. The key itself is looked at again
 * with every request, so one that is withdrawn ends its sessions. In memory, bounded, thread-safe.
 */
struct bj_sessions;

enum { BJ_KEY_MAX = 256 };

struct bj_sessions *bj_sessions_new(void); /* NULL: no memory */
void bj_sessions_free(struct bj_sessions *sessions);

/* The key that @request brings: in its headers, else by its cookie. A cookie counts only where the
 * browser says that our own page sent it; where something may change, the page's own header is
 * needed too, which no other site can add. False: none. The caller wipes @key. */
bool bj_sessions_key(struct bj_sessions *sessions, const struct bj_request *request,
		     char key[BJ_KEY_MAX]);

/* GET, POST and DELETE /v1/session: whether there is one, open one with the key that the request
 * brings (which was found to be good), end it. */
void bj_sessions_get(struct bj_sessions *sessions, const struct bj_request *request,
		     struct bj_answer *answer);
void bj_sessions_open(struct bj_sessions *sessions, const struct bj_request *request,
		      struct bj_answer *answer);
void bj_sessions_close(struct bj_sessions *sessions, const struct bj_request *request,
		       struct bj_answer *answer);
