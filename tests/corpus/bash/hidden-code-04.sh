eval "$(echo bHM= | base64 -d)"
