/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp/rule.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "seccomp/profile.h"
#include "seccomp/syscalls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

enum { MAX_ARGS = 6, MAX_ERRNO = 4095, WHERE = 48 };

static const char *const RULE_FIELDS[] = { "names", "name",    "numbers",  "action",   "errnoRet",
					   "args",  "comment", "includes", "excludes", NULL };
static const char *const ARG_FIELDS[] = { "index", "value", "valueTwo", "op", NULL };
static const char *const FILTER_FIELDS[] = { "caps", "arches", "minKernel", NULL };

/* KILL ends the process, not the thread: half a program is no program. */
static const struct {
	const char *name;
	uint32_t action;
} ACTIONS[] = {
	{ "SCMP_ACT_ALLOW", SCMP_ACT_ALLOW },
	{ "SCMP_ACT_ERRNO", SCMP_ACT_ERRNO(0) },
	{ "SCMP_ACT_KILL", SCMP_ACT_KILL_PROCESS },
	{ "SCMP_ACT_KILL_PROCESS", SCMP_ACT_KILL_PROCESS },
	{ "SCMP_ACT_KILL_THREAD", SCMP_ACT_KILL_PROCESS },
	{ "SCMP_ACT_TRAP", SCMP_ACT_TRAP },
	{ "SCMP_ACT_LOG", SCMP_ACT_LOG },
};

static const struct {
	const char *name;
	enum scmp_compare op;
} OPERATORS[] = {
	{ "SCMP_CMP_NE", SCMP_CMP_NE },
	{ "SCMP_CMP_LT", SCMP_CMP_LT },
	{ "SCMP_CMP_LE", SCMP_CMP_LE },
	{ "SCMP_CMP_EQ", SCMP_CMP_EQ },
	{ "SCMP_CMP_GE", SCMP_CMP_GE },
	{ "SCMP_CMP_GT", SCMP_CMP_GT },
	{ "SCMP_CMP_MASKED_EQ", SCMP_CMP_MASKED_EQ },
};

/* What Docker calls the architectures in includes and excludes. */
static const struct {
	uint32_t arch;
	const char *name;
} ARCHES[] = {
	{ SCMP_ARCH_X86_64, "amd64" },
	{ SCMP_ARCH_AARCH64, "arm64" },
	{ SCMP_ARCH_RISCV64, "riscv64" },
};

int bj_rule_check_fields(const json_t *object, const char *where, const char *const *known,
			 struct bj_err *err)
{
	const char *key;
	json_t *value;

	if (!json_is_object(object))
		return bj_err_set(err, BJ_E_INVALID, 0, "%s must be an object", where);
	json_object_foreach((json_t *)object, key, value)
	{
		size_t i = 0;

		while (known[i] && strcmp(known[i], key) != 0)
			i++;
		if (!known[i])
			return bj_err_set(err, BJ_E_INVALID, 0,
					  "%s has the unknown field \"%.40s\"; remove it", where,
					  key);
	}
	return 0;
}

/* A field that is absent or null is 0 and leaves *@ret alone; found is 1. */
static int read_number(const json_t *object, const char *prefix, const char *field, uint64_t max,
		       uint64_t *ret, struct bj_err *err)
{
	const json_t *value = json_object_get(object, field);

	if (!value || json_is_null(value))
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    (uint64_t)json_integer_value(value) > max)
		return bj_err_set(err, BJ_E_INVALID, 0, "%s%s must be a number from 0 to %llu",
				  prefix, field, (unsigned long long)max);
	*ret = (uint64_t)json_integer_value(value);
	return 1;
}

static int find_action(const char *name, const char *prefix, const char *field, uint32_t *ret,
		       struct bj_err *err)
{
	for (size_t i = 0; i < BJ_ARRAY_SIZE(ACTIONS); i++)
		if (strcmp(ACTIONS[i].name, name) == 0) {
			*ret = ACTIONS[i].action;
			return 0;
		}
	if (strcmp(name, "SCMP_ACT_TRACE") == 0 || strcmp(name, "SCMP_ACT_NOTIFY") == 0)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "%s%s: %s needs a supervisor that answers, and a jar has none; "
				  "use SCMP_ACT_ERRNO",
				  prefix, field, name);
	return bj_err_set(err, BJ_E_INVALID, 0,
			  "%s%s: there is no action %.40s; use SCMP_ACT_ALLOW, SCMP_ACT_ERRNO, "
			  "SCMP_ACT_KILL_PROCESS, SCMP_ACT_TRAP or SCMP_ACT_LOG",
			  prefix, field, name);
}

int bj_rule_action(const json_t *object, const char *prefix, const char *field,
		   const char *errno_field, uint32_t *ret_action, struct bj_err *err)
{
	const char *name = json_string_value(json_object_get(object, field));
	uint64_t errnum = EPERM;
	uint32_t action = 0;

	if (!name)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "%s%s must be a string such as \"SCMP_ACT_ERRNO\"", prefix,
				  field);

	int r = find_action(name, prefix, field, &action, err);

	if (r < 0)
		return r;
	r = read_number(object, prefix, errno_field, MAX_ERRNO, &errnum, err);
	if (r < 0)
		return r;
	*ret_action = action == SCMP_ACT_ERRNO(0) ? SCMP_ACT_ERRNO((uint32_t)errnum) : action;
	return 0;
}

static int read_operator(const json_t *arg, const char *prefix, enum scmp_compare *ret,
			 struct bj_err *err)
{
	const char *name = json_string_value(json_object_get(arg, "op"));

	for (size_t i = 0; name && i < BJ_ARRAY_SIZE(OPERATORS); i++)
		if (strcmp(OPERATORS[i].name, name) == 0) {
			*ret = OPERATORS[i].op;
			return 0;
		}
	return bj_err_set(err, BJ_E_INVALID, 0,
			  "%sop must be SCMP_CMP_ and one of NE, LT, LE, EQ, GE, GT, MASKED_EQ",
			  prefix);
}

static int read_arg(const json_t *arg, const char *prefix, struct scmp_arg_cmp *ret,
		    struct bj_err *err)
{
	uint64_t index = 0, value = 0, second = 0;
	enum scmp_compare op = SCMP_CMP_EQ;
	int r = bj_rule_check_fields(arg, prefix, ARG_FIELDS, err);

	if (r < 0)
		return r;
	r = read_number(arg, prefix, "index", MAX_ARGS - 1, &index, err);
	if (r == 0)
		return bj_err_set(err, BJ_E_INVALID, 0, "%sindex is missing", prefix);
	if (r > 0)
		r = read_number(arg, prefix, "value", INT64_MAX, &value, err);
	if (r >= 0)
		r = read_number(arg, prefix, "valueTwo", INT64_MAX, &second, err);
	if (r >= 0)
		r = read_operator(arg, prefix, &op, err);
	if (r < 0)
		return r;
	*ret = (struct scmp_arg_cmp){ (unsigned int)index, op, value, second };
	return 0;
}

/* Returns how many conditions there are. */
static int read_args(const json_t *entry, size_t index, struct scmp_arg_cmp ret[MAX_ARGS],
		     struct bj_err *err)
{
	const json_t *args = json_object_get(entry, "args");
	const size_t n = json_array_size(args);

	if (!args || json_is_null(args))
		return 0;
	if (!json_is_array(args) || n > MAX_ARGS)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "syscalls[%zu].args must be a list of at most %d conditions",
				  index, MAX_ARGS);
	for (size_t i = 0; i < n; i++) {
		char prefix[WHERE];

		snprintf(prefix, sizeof(prefix), "syscalls[%zu].args[%zu].", index, i);
		const int r = read_arg(json_array_get(args, i), prefix, &ret[i], err);
		if (r < 0)
			return r;
	}
	return (int)n;
}

/* libseccomp refuses a rule that says what the default says already; it changes nothing. */
static int add_one(struct bj_rules *rules, uint32_t action, int number, unsigned int n,
		   const struct scmp_arg_cmp *args, const char *what, struct bj_err *err)
{
	if (!rules->ctx || action == rules->default_action)
		return 0;

	const int r = seccomp_rule_add_array(rules->ctx, action, number, n, args);

	if (r == -EEXIST)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "%s contradicts an earlier rule for the same call; keep one",
				  what);
	if (r < 0)
		return bj_err_set(err, BJ_E_INVALID, -r, "%s cannot be compiled", what);
	return 0;
}

static bool repeats_argument(const struct scmp_arg_cmp *args, int n)
{
	unsigned int seen = 0;

	for (int i = 0; i < n; i++) {
		if (seen & (1u << args[i].arg))
			return true;
		seen |= 1u << args[i].arg;
	}
	return false;
}

static int add_call(struct bj_rules *rules, uint32_t action, int number,
		    const struct scmp_arg_cmp *args, int n, const char *what, struct bj_err *err)
{
	if (number > rules->newest)
		rules->newest = number;
	if (!repeats_argument(args, n))
		return add_one(rules, action, number, (unsigned int)n, args, what, err);
	for (int i = 0; i < n; i++) {
		const int r = add_one(rules, action, number, 1, &args[i], what, err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* 1: the list @field of @object holds something, 0: it is empty or absent. */
static int read_list(const json_t *object, const char *where, const char *field, struct bj_err *err)
{
	const json_t *list = json_object_get(object, field);

	if (!list || json_is_null(list))
		return 0;
	if (!json_is_array(list))
		return bj_err_set(err, BJ_E_INVALID, 0, "%s.%s must be a list of strings", where,
				  field);
	return json_array_size(list) > 0;
}

static bool lists_native(const json_t *arches)
{
	const uint32_t native = seccomp_arch_native();
	const char *name = "";

	for (size_t i = 0; i < BJ_ARRAY_SIZE(ARCHES); i++)
		if (ARCHES[i].arch == native)
			name = ARCHES[i].name;
	for (size_t i = 0; i < json_array_size(arches); i++) {
		const char *item = json_string_value(json_array_get(arches, i));

		if (item && strcmp(item, name) == 0)
			return true;
	}
	return false;
}

/* "6.1.0-13" as 6 << 16 | 1; false when it does not start with two numbers. */
static bool read_version(const char *text, uint32_t *ret)
{
	char *end = NULL;
	const unsigned long major = strtoul(text, &end, 10);

	if (end == text || *end != '.' || major > UINT16_MAX)
		return false;

	const char *rest = end + 1;
	const unsigned long minor = strtoul(rest, &end, 10);

	if (end == rest || minor > UINT16_MAX)
		return false;
	*ret = (uint32_t)(major << 16 | minor);
	return true;
}

static int read_kernel(const json_t *filter, const char *where, bool *ret_reached,
		       struct bj_err *err)
{
	const char *text = json_string_value(json_object_get(filter, "minKernel"));
	struct utsname uts = { 0 };
	uint32_t wanted = 0, running = 0;

	if (!text || !read_version(text, &wanted))
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "%s.minKernel must be a version such as \"4.8\"", where);
	if (uname(&uts) < 0 || !read_version(uts.release, &running))
		return bj_err_set(err, BJ_E_SYSTEM, 0, "cannot read the kernel's version");
	*ret_reached = running >= wanted;
	return 0;
}

/* What the conditions in "includes" or "excludes" say about this process: how many are there, and
 * how many hold. A jar has no capabilities, so one that asks for any never holds. */
struct verdict {
	unsigned int asked, held;
};

static int judge_filter(const json_t *filter, const char *where, struct verdict *ret,
			struct bj_err *err)
{
	bool reached = false;
	int r = bj_rule_check_fields(filter, where, FILTER_FIELDS, err);

	if (r < 0)
		return r;
	r = read_list(filter, where, "caps", err);
	if (r < 0)
		return r;
	ret->asked += (unsigned int)r;
	r = read_list(filter, where, "arches", err);
	if (r < 0)
		return r;
	ret->asked += (unsigned int)r;
	ret->held += lists_native(json_object_get(filter, "arches"));
	if (!json_object_get(filter, "minKernel"))
		return 0;
	r = read_kernel(filter, where, &reached, err);
	ret->asked++;
	ret->held += reached;
	return r;
}

static int judge(const json_t *entry, size_t index, const char *field, struct verdict *ret,
		 struct bj_err *err)
{
	const json_t *filter = json_object_get(entry, field);
	char where[WHERE];

	*ret = (struct verdict){ 0 };
	if (!filter || json_is_null(filter))
		return 0;
	snprintf(where, sizeof(where), "syscalls[%zu].%s", index, field);
	return judge_filter(filter, where, ret, err);
}

/* 1: the entry counts here, 0: it does not. */
static int applies(const json_t *entry, size_t index, struct bj_err *err)
{
	struct verdict includes, excludes;
	int r = judge(entry, index, "includes", &includes, err);

	if (r < 0)
		return r;
	r = judge(entry, index, "excludes", &excludes, err);
	if (r < 0)
		return r;
	return includes.held == includes.asked && excludes.held == 0;
}

struct entry {
	uint32_t action;
	struct scmp_arg_cmp args[MAX_ARGS];
	int n_args;
};

static int add_name(struct bj_rules *rules, const struct entry *e, const json_t *name, size_t index,
		    struct bj_err *err)
{
	const char *text = json_string_value(name);
	char what[WHERE * 2];

	if (!text)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "syscalls[%zu].names must be a list of strings", index);

	const int number = bj_syscall_number(text);

	if (number < 0)
		return 0;
	snprintf(what, sizeof(what), "syscalls[%zu] (%.40s)", index, text);
	return add_call(rules, e->action, number, e->args, e->n_args, what, err);
}

static int add_numbers(struct bj_rules *rules, const struct entry *e, const json_t *range,
		       size_t index, struct bj_err *err)
{
	const json_int_t first = json_integer_value(json_array_get(range, 0));
	const json_int_t last = json_integer_value(json_array_get(range, 1));
	char what[WHERE];

	if (json_array_size(range) != 2 || first < 1 || first > last ||
	    last > BJ_PROFILE_LAST_NUMBER)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "syscalls[%zu].numbers must be [FIRST, LAST], at most %d", index,
				  BJ_PROFILE_LAST_NUMBER);
	snprintf(what, sizeof(what), "syscalls[%zu].numbers", index);
	for (int number = (int)first; number <= (int)last; number++) {
		const int r = add_call(rules, e->action, number, e->args, e->n_args, what, err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* An entry names its calls in exactly one of three ways. */
static int add_calls(struct bj_rules *rules, const struct entry *e, const json_t *entry,
		     size_t index, struct bj_err *err)
{
	const json_t *names = json_object_get(entry, "names");
	const json_t *name = json_object_get(entry, "name");
	const json_t *numbers = json_object_get(entry, "numbers");

	if (!!names + !!name + !!numbers != 1)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "syscalls[%zu] must have either \"names\" or \"name\"", index);
	if (name)
		return add_name(rules, e, name, index, err);
	if (numbers)
		return add_numbers(rules, e, numbers, index, err);
	if (!json_is_array(names))
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "syscalls[%zu].names must be a list of strings", index);
	for (size_t i = 0; i < json_array_size(names); i++) {
		const int r = add_name(rules, e, json_array_get(names, i), index, err);

		if (r < 0)
			return r;
	}
	return 0;
}

int bj_rule_add(struct bj_rules *rules, const json_t *entry, size_t index, struct bj_err *err)
{
	struct entry e = { 0 };
	char where[WHERE], prefix[WHERE];

	snprintf(where, sizeof(where), "syscalls[%zu]", index);
	snprintf(prefix, sizeof(prefix), "syscalls[%zu].", index);

	int r = bj_rule_check_fields(entry, where, RULE_FIELDS, err);

	if (r < 0)
		return r;
	r = bj_rule_action(entry, prefix, "action", "errnoRet", &e.action, err);
	if (r < 0)
		return r;
	e.n_args = read_args(entry, index, e.args, err);
	if (e.n_args < 0)
		return e.n_args;
	r = applies(entry, index, err);
	return r <= 0 ? r : add_calls(rules, &e, entry, index, err);
}

int bj_rule_add_unknown(struct bj_rules *rules, struct bj_err *err)
{
	for (int n = rules->newest + 1; n <= BJ_PROFILE_LAST_NUMBER; n++) {
		const int r = add_one(rules, SCMP_ACT_ERRNO(ENOSYS), n, 0, NULL,
				      "the rule for unknown numbers", err);

		if (r < 0)
			return r;
	}
	return 0;
}
