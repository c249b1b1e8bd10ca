printf '%s\n' tests/*.sh | xargs -P"$(nproc)" -n1 bash
