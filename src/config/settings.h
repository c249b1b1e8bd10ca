/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* Every setting of belljar as one plain value. The table in table.c (key, type, range,
 * default, environment names, help) is the single source: YAML, environment, flags, messages and
 * docs/configuration.md all come from it. */

enum bj_import_mode { BJ_IMPORTS_AUTO, BJ_IMPORTS_BLOCK, BJ_IMPORTS_WARN, BJ_IMPORTS_OFF };
enum bj_proc_mode { BJ_PROC_PID, BJ_PROC_COMPAT, BJ_PROC_NONE };
enum bj_docker_profile { BJ_DOCKER_PROFILE_OURS, BJ_DOCKER_PROFILE_ENGINE };
enum bj_audit_sync { BJ_AUDIT_GROUP, BJ_AUDIT_ALWAYS, BJ_AUDIT_NEVER };
enum bj_approval_scope { BJ_SCOPE_TOOL, BJ_SCOPE_TENANT, BJ_SCOPE_ALL };
enum bj_store_code { BJ_STORE_NEVER, BJ_STORE_ON_ERROR, BJ_STORE_ALWAYS };

enum { BJ_IMAGES_ALLOWED = 16 /* images.allow has no more */ };

/* A list of strings; owned by the settings. */
struct bj_strings {
	char **items;
	size_t n;
};

/* serve.*: the service. */
struct bj_serve_settings {
	char *socket;       /* NULL: the usual place */
	char *listen;       /* HOST:PORT; NULL: no TCP */
	char *api_key;      /* NULL: none */
	char *api_key_file; /* NULL: none */
	char *user;
	uint32_t concurrency, queue, max_connections, keep;
	uint64_t max_body, keep_output;
	uint64_t request_timeout_ms, grace_ms, keep_time_ms;
};

/* audit.*: the audit log. */
struct bj_audit_settings {
	bool enabled;
	char *key; /* file of the signing key; NULL: in the state directory */
	uint64_t max_size;
	enum bj_audit_sync sync;
};

/* mcp.*: the Model Context Protocol over HTTP. */
struct bj_mcp_settings {
	uint32_t sessions;
	uint64_t session_idle_ms, keep_events;
	char *allowed_host; /* NULL: only names of this machine */
};

/* record.*, artifacts.*: what is kept of runs. */
struct bj_record_settings {
	bool enabled;
	uint64_t keep_time_ms, keep_bytes;
	uint64_t artifact_bytes;
	bool files;
};

/* approval.*: who must be asked before a run. */
struct bj_approval_settings {
	struct bj_strings rules;
	uint64_t expire_ms, reuse_ms;
	enum bj_approval_scope scope;
};

/* price.*: what runs cost, in millionths of the currency. */
struct bj_price_settings {
	uint32_t run, cpu_second, gb_second;
	char *currency;
};

struct bj_settings {
	enum bj_backend_id backend;        /* backend */
	char *profile;                     /* profile: the named set of limits in force */
	struct bj_limits limits;           /* limits.* */
	uint64_t max_timeout_ms;           /* limits.max_timeout: longer requests are clamped */
	uint32_t max_script_chars;         /* check.max_script_chars */
	uint32_t max_script_bytes;         /* check.max_script_bytes */
	enum bj_policy policy;             /* check.policy */
	enum bj_import_mode imports;       /* check.imports: auto is warn, block under direct */
	struct bj_strings blocked_imports; /* check.blocked_imports */
	char *user_rules;                  /* check.rules_file; NULL: none */
	enum bj_require require;           /* native.require */
	char *python;                      /* native.python */
	char *bash;                        /* native.bash */
	char *cgroup;                      /* native.cgroup: parent to use; NULL: find one */
	uint32_t uid_base, uid_count;      /* native.uid_base, native.uid_count */
	uint64_t all_memory;               /* native.all_memory; 0: derived */
	uint32_t all_cpu_milli, all_pids;  /* native.all_cpus, native.all_pids (0: derived) */
	enum bj_proc_mode proc;            /* native.proc */
	uint32_t warm_slots;               /* warm.slots */
	uint32_t warm_heavy_slots;         /* warm.heavy_slots */
	uint32_t warm_bash_slots;          /* warm.bash_slots */
	uint32_t warm_jars;                /* warm.jars */
	uint32_t warm_max;                 /* warm.max */
	uint32_t warm_images;              /* warm.images */
	struct bj_strings warm_preload;    /* warm.preload */
	struct bj_strings warm_heavy;      /* warm.heavy */
	char *seccomp;                  /* seccomp: a profile file in Docker's format; NULL: ours */
	char *image;                    /* image; NULL or "host": the host's interpreters */
	char *images_dir;               /* images.dir; NULL: found by who runs it */
	struct bj_strings images_allow; /* images.allow */
	uint64_t images_max_size;       /* images.max_size */
	uint32_t images_max_files;      /* images.max_files */
	struct bj_strings fallback;     /* fallback: backends to try when the first is not there */
	bool fallback_to_direct;        /* fallback_to_direct: direct at the end of that list */
	char *docker_host;              /* docker.host; NULL: as the docker command finds it */
	char *docker_image;             /* docker.image: for both languages; NULL: the next two */
	char *docker_python, *docker_bash;     /* docker.python_image, docker.bash_image */
	char *docker_runtime;                  /* docker.runtime; NULL: the engine's choice */
	enum bj_docker_profile docker_seccomp; /* docker.seccomp */
	bool docker_mount_script;              /* docker.mount_script */
	bool docker_pull;                      /* docker.pull */
	uint32_t docker_pool;                  /* docker.pool */
	uint64_t docker_sweep_ms;              /* docker.sweep */
	uint64_t docker_timeout_ms;            /* docker.timeout */
	char *state_dir;                       /* state_dir; NULL: chosen by who runs it */
	enum bj_store_code store_code;         /* store_code */
	char *tenant;                          /* tenant; NULL: none */
	char *trace_endpoint;                  /* trace.endpoint; NULL: none */
	bool allow_unsafe;                     /* allow_unsafe: lets backend direct run at all */
	char *log_level;                       /* log_level */
	struct bj_audit_settings audit;        /* audit.* */
	struct bj_record_settings record;      /* record.*, artifacts.* */
	struct bj_approval_settings approval;  /* approval.* */
	struct bj_price_settings price;        /* price.* */
	struct bj_serve_settings serve;        /* serve.* */
	uint64_t tool_max_text;                /* tool.max_text */
	struct bj_mcp_settings mcp;            /* mcp.* */
};

/* Where values come from, weakest first: built-in, file, environment, flag. */
struct bj_override {
	const char *key;   /* dotted key of the table */
	const char *value; /* as it would stand in YAML */
	const char *flag;  /* its name without the dashes, for messages */
};

/* Read the settings: the defaults, the profile, the file (@path, or when NULL $BELLJAR_CONFIG,
 * ./belljar.yaml is never read by itself, then $XDG_CONFIG_HOME/belljar/config.yaml or
 * /etc/belljar/config.yaml), the environment, then @overrides. On failure the message names the
 * place (file and line, variable or flag), the key and what is allowed; *@ret is untouched.
 * The caller frees *@ret. */
int bj_settings_load(const char *path, const struct bj_override *overrides, size_t n_overrides,
		     struct bj_settings **ret, struct bj_err *err);
void bj_settings_free(struct bj_settings *settings); /* NULL is fine */

/* Whether each of @limits is one that its setting may have; the message says what is allowed. */
int bj_settings_check_limits(const struct bj_limits *limits, struct bj_err *err);

/* The timeout a run gets that asks for @asked_ms (0: nothing asked): never over max_timeout. */
uint64_t bj_settings_clamp_timeout(const struct bj_settings *settings, uint64_t asked_ms);

/* The table as commented YAML that loads as it is (`belljar config --explain`), and the values in
 * force with the origin of each (`belljar config --show`; @settings comes from
 * bj_settings_load()). Only the setting or section @only, unless it is NULL. @json gives one
 * object. The caller frees the text; NULL: no memory. */
char *bj_settings_explain(const char *only, bool json);
char *bj_settings_show(const struct bj_settings *settings, const char *only, bool json);
bool bj_settings_has(const char *only); /* a setting or section of that name */

/* What to say about a key that does not exist: the nearest one, or NULL. */
const char *bj_settings_suggest(const char *key);

/* Set one number of @settings by its key, as it would stand in YAML: for a door that takes limits
 * in a request. The message names the key and what is allowed. */
int bj_settings_set_number(struct bj_settings *settings, const char *key, const char *text,
			   struct bj_err *err);

/* The same for a secret, which no message shows. */
int bj_settings_set_secret(struct bj_settings *settings, const char *key, const char *text,
			   struct bj_err *err);

/* Whether somebody set @key by itself: neither the table nor a profile gave it its value. */
bool bj_settings_was_set(const struct bj_settings *settings, const char *key);

/* The settings as bytes, for another process of ours that may not read the file, and back. The
 * bytes hold secrets. The caller frees what comes out. */
struct bj_buf;
void bj_settings_pack(const struct bj_settings *settings, struct bj_buf *buf);
int bj_settings_unpack(const char *data, size_t size, struct bj_settings **ret, struct bj_err *err);

/* A copy of @settings with the profile @name in force: limits that were set by themselves stay.
 * The caller frees *@ret. */
int bj_settings_with_profile(const struct bj_settings *settings, const char *name,
			     struct bj_settings **ret, struct bj_err *err);

/* What the setting @key may be, NULL-terminated; NULL: it is no choice of words. */
const char *const *bj_settings_choices(const char *key);
