/* SPDX-License-Identifier: Apache-2.0 */

/* An engine takes one profile, not two on top of each other as a jar does. So the rules of the
 * floor are worked into the user's: a call that the floor speaks of loses every rule of the user's
 * that allows it. Where the user's profile allows by default, the floor's own rules follow and
 * deny; where it denies by default, our rules for the call follow, which keep to the floor. */

#include "docker/profile.h"

#include "base/err.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

static bool denies(const json_t *action)
{
	const char *text = json_string_value(action);

	return text &&
	       (strncmp(text, "SCMP_ACT_ERRNO", 14) == 0 ||
		strncmp(text, "SCMP_ACT_KILL", 13) == 0 || strcmp(text, "SCMP_ACT_TRAP") == 0);
}

/* Whether an entry of @profile speaks of @name. */
static bool speaks_of(const json_t *profile, const char *name)
{
	json_t *entry, *item;
	size_t i, k;

	json_array_foreach(json_object_get(profile, "syscalls"), i, entry) json_array_foreach(
		json_object_get(entry, "names"), k,
		item) if (strcmp(json_string_value(item), name) == 0) return true;
	return false;
}

/* Take the names that @floor speaks of out of @entry; they are added to @taken. */
static void strip(json_t *entry, const json_t *floor, json_t *taken)
{
	json_t *names = json_object_get(entry, "names");
	const char *old = json_string_value(json_object_get(entry, "name"));

	if (!names && old) {
		names = json_pack("[s]", old);
		json_object_set_new(entry, "names", names);
		json_object_del(entry, "name");
	}
	for (size_t i = json_array_size(names); i-- > 0;) {
		const char *name = json_string_value(json_array_get(names, i));

		if (name && !speaks_of(floor, name))
			continue;
		if (name)
			json_object_set_new(taken, name, json_true());
		json_array_remove(names, i);
	}
}

/* Add the rules of @from to @to; with @only, those that speak of a name in it, for that name. */
static void add_rules(json_t *to, const json_t *from, json_t *only)
{
	json_t *entry, *item;
	size_t i, k;

	json_array_foreach(json_object_get(from, "syscalls"), i, entry)
	{
		json_t *copy = json_deep_copy(entry);
		json_t *names = json_array();

		json_array_foreach(json_object_get(entry, "names"), k,
				   item) if (!only ||
					     json_object_get(only, json_string_value(item)))
			json_array_append(names, item);
		json_object_set(copy, "names", names);
		if (json_array_size(names) > 0)
			json_array_append(to, copy);
		json_decref(names);
		json_decref(copy);
	}
}

static void tighten(json_t *profile, const json_t *ours, const json_t *floor)
{
	json_t *rules = json_object_get(profile, "syscalls");
	json_t *taken = json_object();
	json_t *entry;

	if (!rules) {
		rules = json_array();
		json_object_set_new(profile, "syscalls", rules);
	}
	for (size_t i = json_array_size(rules); i-- > 0;) {
		entry = json_array_get(rules, i);
		if (denies(json_object_get(entry, "action")))
			continue;
		strip(entry, floor, taken);
		if (json_array_size(json_object_get(entry, "names")) == 0)
			json_array_remove(rules, i);
	}
	if (denies(json_object_get(profile, "defaultAction")))
		add_rules(rules, ours, taken);
	else
		add_rules(rules, floor, NULL);
	json_decref(taken);
}

char *bj_docker_profile(const char *custom, const char *ours, const char *floor, struct bj_err *err)
{
	json_error_t where;
	json_t *profile = json_loads(custom, 0, &where);
	json_t *own = json_loads(ours, 0, NULL);
	json_t *low = json_loads(floor, 0, NULL);
	char *text = NULL;

	if (!json_is_string(json_object_get(profile, "defaultAction")) || !own || !low) {
		bj_err_set(err, BJ_E_INVALID, 0, "the seccomp profile is not in Docker's format");
	} else {
		tighten(profile, own, low);
		text = json_dumps(profile, JSON_COMPACT);
		if (!text)
			bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory for the profile");
	}
	json_decref(profile);
	json_decref(own);
	json_decref(low);
	return text;
}
