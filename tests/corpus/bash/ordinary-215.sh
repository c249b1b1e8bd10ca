#!/bin/sh
jobs=$(nproc)
exec make -j"$jobs" "$@"
