/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

#include <curl/curl.h>

/* libcurl, loaded when the broker starts and nowhere else: it brings two dozen libraries along,
 * and every other run of belljar starts in a millisecond because it does without. */
struct bj_curl {
	CURLcode (*global_init)(long flags);
	CURL *(*easy_init)(void);
	void (*easy_cleanup)(CURL *handle);
	void (*easy_reset)(CURL *handle);
	CURLcode (*easy_setopt)(CURL *handle, CURLoption option, ...);
	CURLcode (*easy_getinfo)(CURL *handle, CURLINFO info, ...);
	CURLcode (*easy_perform)(CURL *handle);
	CURLcode (*easy_send)(CURL *handle, const void *data, size_t size, size_t *ret_n);
	CURLcode (*easy_recv)(CURL *handle, void *data, size_t size, size_t *ret_n);
	const char *(*easy_strerror)(CURLcode code);
	struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
	void (*slist_free_all)(struct curl_slist *list);
};

/* Load it. -BJ_E_UNSUPPORTED when it is not installed. */
int bj_curl_load(struct bj_curl *ret, struct bj_err *err);
