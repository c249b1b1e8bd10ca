/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "docker/attach.h"
#include "docker/container.h"
#include "docker/demux.h"
#include "docker/records.h"
#include "jar/role.h"

/* Between the streams of a container and the pipes of the front, with one eye on the clock. */
struct bj_pump {
	struct bj_attach *attach;
	struct bj_docker *docker;
	struct bj_role_launch *run;
	const char *container;
	struct bj_records records, err_records;
	bool have_end, err_ended;
	struct bj_container_usage usage; /* taken before a kill */
	struct bj_inside_end end;
	/* private */
	struct bj_attach killer; /* asks the engine to kill */
	struct bj_demux demux;
	int term; /* a descriptor that is ready when we shall stop */
	enum bj_cause cause;
	uint64_t deadline;
	bool over, killed;
	bool ended; /* nothing more comes from the container */
	char in[65536];
	size_t in_at, in_size;
	struct bj_demux_piece frame; /* what is left of the frame at hand */
	int sink;                    /* where @piece goes; -1: nowhere */
	struct bj_records_piece piece;
	char stdin_frame[sizeof(uint32_t) + BJ_INSIDE_FRAME];
	size_t stdin_at, stdin_size;
	bool stdin_ended;
};

/* Pump until the container's streams end. Kills the container at @deadline, when the front asks
 * for it or goes away, or when this process is told to end. The cause for which it was killed,
 * or BJ_CAUSE_NONE. */
enum bj_cause bj_pump_run(struct bj_pump *pump, uint64_t deadline);
