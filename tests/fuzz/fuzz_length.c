/* SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"
#include "fuzz.h"

#include "check/decode.h"
#include "check/encoding.h"
#include "check/length.h"

#include <stdlib.h>

/* The length layer, encodings included, on foreign bytes: places lie in the text, and what is
 * decoded is UTF-8, and reading takes no longer than bound.h says. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;

	const struct bj_check_request asked = {
		.language = data[0] & 1 ? BJ_LANG_BASH : BJ_LANG_PYTHON,
		.text = (const char *)data + 1,
		.size = size - 1,
	};
	struct bj_check_request request;
	struct bj_findings findings = { 0 };
	char *decoded = NULL;
	const uint64_t start = bj_clock_cpu();

	if (bj_decode(&asked, &request, &decoded) < 0)
		return 0;
	if (decoded) {
		struct bj_encoding encoding;

		bj_encoding_read(request.text, request.size, &encoding);
		if (encoding.invalid != SIZE_MAX)
			abort();
	}
	bj_layer_length(&request, &findings);
	bj_bound_check(start, size);
	for (size_t i = 0; i < findings.n; i++)
		if (findings.items[i].start > findings.items[i].end ||
		    findings.items[i].end > request.size)
			abort();
	bj_findings_done(&findings);
	free(decoded);
	return 0;
}
