/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "serve/service.h"

/* Tenants, keys, usage and the audit log over HTTP. Each is a handler of the table of routes; @id
 * is what stands for {id}. */
void bj_office_usage(struct bj_service *s, const struct bj_request *req, const char *id,
		     struct bj_answer *answer);
void bj_office_audit(struct bj_service *s, const struct bj_request *req, const char *id,
		     struct bj_answer *answer);
void bj_office_tenants(struct bj_service *s, const struct bj_request *req, const char *id,
		       struct bj_answer *answer);
void bj_office_put_tenant(struct bj_service *s, const struct bj_request *req, const char *id,
			  struct bj_answer *answer);
void bj_office_delete_tenant(struct bj_service *s, const struct bj_request *req, const char *id,
			     struct bj_answer *answer);
void bj_office_keys(struct bj_service *s, const struct bj_request *req, const char *id,
		    struct bj_answer *answer);
void bj_office_post_key(struct bj_service *s, const struct bj_request *req, const char *id,
			struct bj_answer *answer);
void bj_office_delete_key(struct bj_service *s, const struct bj_request *req, const char *id,
			  struct bj_answer *answer);
