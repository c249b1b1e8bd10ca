#!/bin/bash
# Forks without end: the limit on processes stops it.
# shellcheck disable=SC2264
bomb() { bomb | bomb & }
exec 2>/dev/null # bash complains about every fork that fails
bomb
sleep 5
