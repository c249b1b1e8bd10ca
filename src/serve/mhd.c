/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/mhd.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <dlfcn.h>
#include <string.h>

static const struct {
	const char *name;
	size_t offset;
} CALLS[] = {
	{ "MHD_start_daemon", offsetof(struct bj_mhd, start_daemon) },
	{ "MHD_stop_daemon", offsetof(struct bj_mhd, stop_daemon) },
	{ "MHD_quiesce_daemon", offsetof(struct bj_mhd, quiesce_daemon) },
	{ "MHD_create_response_from_buffer", offsetof(struct bj_mhd, response_from_buffer) },
	{ "MHD_create_response_from_callback", offsetof(struct bj_mhd, response_from_callback) },
	{ "MHD_add_response_header", offsetof(struct bj_mhd, add_response_header) },
	{ "MHD_queue_response", offsetof(struct bj_mhd, queue_response) },
	{ "MHD_destroy_response", offsetof(struct bj_mhd, destroy_response) },
	{ "MHD_get_connection_values_n", offsetof(struct bj_mhd, headers) },
	{ "MHD_lookup_connection_value", offsetof(struct bj_mhd, lookup) },
	{ "MHD_get_connection_info", offsetof(struct bj_mhd, connection_info) },
};

int bj_mhd_load(struct bj_mhd *ret, struct bj_err *err)
{
	void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
	struct bj_mhd mhd;

	if (!library)
		return bj_err_set(err, BJ_E_NOT_FOUND, 0,
				  "the service needs libmicrohttpd: install libmicrohttpd12");
	for (size_t i = 0; i < BJ_ARRAY_SIZE(CALLS); i++) {
		void *call = dlsym(library, CALLS[i].name);

		if (!call)
			return bj_err_set(err, BJ_E_NOT_FOUND, 0, "libmicrohttpd has no %s",
					  CALLS[i].name);
		memcpy((char *)&mhd + CALLS[i].offset, &call, sizeof(call));
	}
	*ret = mhd;
	return 0;
}
