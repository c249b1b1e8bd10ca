while read -r cmd; do $cmd; done
