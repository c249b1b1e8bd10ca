eval set -- "$(getopt -o ab: --long alpha,beta: -- "$@")"
