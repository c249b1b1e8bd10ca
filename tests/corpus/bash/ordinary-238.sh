log() { printf '%s %s\n' "$(date -Is)" "$*" >> "${LOG:-run.log}"; }
die() { log "fatal: $*"; exit 1; }
command -v jq >/dev/null || die "jq is missing"
