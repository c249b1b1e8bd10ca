/* SPDX-License-Identifier: Apache-2.0 */
#include "check/rules.h"

#include "base/err.h"
#include "check/length.h"
#include "check/report.h"
#include "check/user_rules.h"

#include <errno.h>

/* A growing array of borrowed rules. */
struct list {
	const struct bj_rule **items;
	size_t n, room;
	bool failed;
};

static void add(struct list *list, const struct bj_rule *rule)
{
	if (list->n == list->room) {
		const size_t room = list->room ? list->room * 2 : 64;
		const struct bj_rule **items = reallocarray(list->items, room, sizeof(*items));

		if (!items) {
			list->failed = true;
			return;
		}
		list->items = items;
		list->room = room;
	}
	list->items[list->n++] = rule;
}

static void add_plain(struct list *list, const struct bj_rule *(*rules)(size_t *))
{
	size_t n;
	const struct bj_rule *items = rules(&n);

	for (size_t i = 0; i < n; i++)
		add(list, &items[i]);
}

static void add_secrets(struct list *list)
{
	size_t n;
	const struct bj_secret_rule *items = bj_rules_secrets(&n);

	for (size_t i = 0; i < n; i++)
		add(list, &items[i].rule);
}

int bj_rules_list(const struct bj_checker *checker, const struct bj_rule ***ret, size_t *ret_n,
		  struct bj_err *err)
{
	const struct bj_user_rules *user = bj_checker_user_rules(checker);
	struct list list = { 0 };

	add_plain(&list, bj_rules_length);
	add_plain(&list, bj_rules_syntax);
	add_secrets(&list);
	for (size_t i = 0; user && i < user->n_secrets; i++)
		add(&list, &user->secrets[i].rule);
	add_plain(&list, bj_rules_dangers);
	for (size_t i = 0; user && i < user->n_calls; i++)
		add(&list, &user->calls[i].rule);
	add_plain(&list, bj_rules_imports);
	if (list.failed) {
		free(list.items);
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot list the rules");
	}
	*ret = list.items;
	*ret_n = list.n;
	return 0;
}
