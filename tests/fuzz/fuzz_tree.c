/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/clock.h"
#include "check/layer.h"

/* The syntax-tree layers on foreign bytes: the first byte picks the language and the policy. No
 * input may crash them, and none may take more than 50 ms per 10 KB (tenfold under sanitizers). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;

	const struct bj_check_request request = {
		.language = data[0] & 1 ? BJ_LANG_BASH : BJ_LANG_PYTHON,
		.policy = data[0] & 2 ? BJ_POLICY_STRICT : BJ_POLICY_DEFAULT,
		.text = (const char *)data + 1,
		.size = size - 1,
	};
	struct bj_findings findings = { 0 };
	struct bj_modules modules = { 0 };
	struct bj_tree *tree = NULL;
	const uint64_t start = bj_clock_now();

	if (bj_tree_new(&request, &tree, NULL) < 0)
		return 0;
	bj_layer_dangers(&request, tree, NULL, 0, &findings, NULL);
	bj_layer_imports(&request, tree, &findings, &modules, NULL);
	for (size_t i = 0; i < findings.n; i++)
		if (findings.items[i].start > findings.items[i].end ||
		    findings.items[i].end > request.size)
			__builtin_trap();
	bj_findings_done(&findings);
	bj_modules_done(&modules);
	bj_tree_free(tree);
	if (bj_clock_now() - start > 500000000u + 50000u * size)
		__builtin_trap();
	return 0;
}
