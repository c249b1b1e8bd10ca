/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/curl.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <dlfcn.h>
#include <stddef.h>

int bj_curl_load(struct bj_curl *ret, struct bj_err *err)
{
	static const struct {
		const char *name;
		size_t offset;
	} symbols[] = {
		{ "curl_global_init", offsetof(struct bj_curl, global_init) },
		{ "curl_easy_init", offsetof(struct bj_curl, easy_init) },
		{ "curl_easy_cleanup", offsetof(struct bj_curl, easy_cleanup) },
		{ "curl_easy_reset", offsetof(struct bj_curl, easy_reset) },
		{ "curl_easy_setopt", offsetof(struct bj_curl, easy_setopt) },
		{ "curl_easy_getinfo", offsetof(struct bj_curl, easy_getinfo) },
		{ "curl_easy_perform", offsetof(struct bj_curl, easy_perform) },
		{ "curl_easy_send", offsetof(struct bj_curl, easy_send) },
		{ "curl_easy_recv", offsetof(struct bj_curl, easy_recv) },
		{ "curl_easy_strerror", offsetof(struct bj_curl, easy_strerror) },
		{ "curl_slist_append", offsetof(struct bj_curl, slist_append) },
		{ "curl_slist_free_all", offsetof(struct bj_curl, slist_free_all) },
	};
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };
	void *lib = NULL;

	for (size_t i = 0; !lib && i < BJ_ARRAY_SIZE(names); i++)
		lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0,
				  "the backend docker needs libcurl; install libcurl4");
	for (size_t i = 0; i < BJ_ARRAY_SIZE(symbols); i++) {
		void *symbol = dlsym(lib, symbols[i].name);

		if (!symbol)
			return bj_err_set(err, BJ_E_UNSUPPORTED, 0, "libcurl has no %s",
					  symbols[i].name);
		*(void **)((char *)ret + symbols[i].offset) = symbol;
	}
	if (ret->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return bj_err_set(err, BJ_E_UNSUPPORTED, 0, "libcurl does not start");
	return 0;
}
