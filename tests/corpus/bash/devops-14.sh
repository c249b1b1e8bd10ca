#!/bin/bash
opts=$(getopt -o hvo: --long help,verbose,output: -n "$0" -- "$@") || exit 2
eval set -- "$opts"
while true; do
  case "$1" in
    -v|--verbose) verbose=1; shift;;
    -o|--output) out=$2; shift 2;;
    --) shift; break;;
  esac
done
echo "${verbose:-0} ${out:-} $*"
