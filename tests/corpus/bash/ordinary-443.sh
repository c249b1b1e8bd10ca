declare -r VERSION=1.2.3; readonly X=1; local_var=${1:-default}; : "${HOME:?}"
