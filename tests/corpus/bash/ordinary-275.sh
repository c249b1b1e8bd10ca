red=$'\e[31m' reset=$'\e[0m'
err() { printf '%s%s%s\n' "$red" "$*" "$reset" >&2; }
err "password file is missing"
