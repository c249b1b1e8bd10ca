read -rsp 'Password: ' password; echo
printf '%s' "$password" | sha256sum
