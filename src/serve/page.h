/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "serve/exchange.h"

/* The page for people: files made of web/ when belljar is built, embedded. They hold no secret and
 * need no key: what they show, they ask for with the session of whoever logged in. */

/* Whether @path is one of them. */
bool bj_page_has(const char *path);

/* Answer with the file that @request asks for. */
void bj_page_answer(const struct bj_request *request, struct bj_answer *answer);
