/* SPDX-License-Identifier: Apache-2.0 */
#include "belljar.h"

#include <stdlib.h>

static void free_strings(char **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

void bj_result_free(struct bj_result *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_findings; i++) {
		free(r->findings[i].layer);
		free(r->findings[i].rule);
		free(r->findings[i].message);
		free(r->findings[i].source);
	}
	free(r->findings);
	free_strings(r->risk_reasons, r->n_risk_reasons);
	free_strings(r->blocked_imports, r->n_blocked_imports);
	free(r->out.data);
	free(r->err.data);
	free(r->validation_error);
	free(r->error);
	free(r->fallback_reason);
	free(r->image);
	free(r->image_digest);
	free(r->decision.by);
	free(r->decision.reason);
	free(r->layers);
	free(r->samples);
	free(r);
}
