#!/bin/bash
# rm -rf / would be bad
log() { printf '[%s] %s\n' "$(date -Is)" "$*" >&2; }
die() { log "error: $*"; exit 1; }
command -v jq >/dev/null || die "need jq"
