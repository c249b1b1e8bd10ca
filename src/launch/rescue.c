/* SPDX-License-Identifier: Apache-2.0 */

/* What becomes of a run whose jar fails before the script begins. */

#include "base/err.h"
#include "launch/launcher.h"

struct bj_jar_shape launcher_shape(const struct bj_wire_launch *run)
{
	return (struct bj_jar_shape){
		.limits = { .memory = run->memory, .cpu_milli = run->cpu_milli, .pids = run->pids },
		.tmp_size = run->tmp_size
	};
}

/* Whether what failed may be a process that others can do without: zygote, slot, nursery. Then that
 * is no fault of the script. */
static bool can_be_rescued(const struct bj_jar *jar)
{
	return jar->failed && !jar->unwanted && jar->has_run && jar->started == 0 &&
	       (jar->warm || jar->nursed);
}

void rescue(struct launcher *l, struct bj_jar *jar)
{
	struct bj_jar *fresh = can_be_rescued(jar) ? launcher_new_jar(l, jar->image) : NULL;
	struct bj_err err = { 0 };

	if (!fresh)
		return;
	bj_jar_move_run(jar, fresh);

	const struct bj_jar_shape shape = launcher_shape(&fresh->run);
	struct bj_jar_ground ground = l->ground;

	fresh->cold_only = true;
	ground.nursery = NULL;
	if (bj_jar_build(fresh, &ground, &shape, &err) < 0)
		bj_jar_fail(fresh, &err);
	launcher_advance(l, fresh);
}
