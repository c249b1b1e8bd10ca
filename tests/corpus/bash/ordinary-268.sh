#!/bin/bash
len=${1:-20}
LC_ALL=C tr -dc 'A-Za-z0-9_@#%' </dev/urandom | head -c "$len"; echo
read -rsp "New password: " pw && echo
printf '%s' "$pw" | sha256sum | cut -d' ' -f1
