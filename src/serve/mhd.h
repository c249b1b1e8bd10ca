/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

#include <microhttpd.h>

/* libmicrohttpd, loaded when the service starts. The library brings a TLS stack along that takes
 * longer to load than `belljar run` takes to run, so no other verb sees it. */
struct bj_mhd {
	__typeof__(MHD_start_daemon) *start_daemon;
	__typeof__(MHD_stop_daemon) *stop_daemon;
	__typeof__(MHD_quiesce_daemon) *quiesce_daemon;
	__typeof__(MHD_create_response_from_buffer) *response_from_buffer;
	__typeof__(MHD_create_response_from_callback) *response_from_callback;
	__typeof__(MHD_add_response_header) *add_response_header;
	__typeof__(MHD_queue_response) *queue_response;
	__typeof__(MHD_destroy_response) *destroy_response;
	__typeof__(MHD_get_connection_values_n) *headers;
	__typeof__(MHD_lookup_connection_value) *lookup;
	__typeof__(MHD_get_connection_info) *connection_info;
};

/* Load it, for the life of the process. */
int bj_mhd_load(struct bj_mhd *ret, struct bj_err *err);
