declare -A cmds=([build]="make all" [test]="make test")
echo "${cmds[${1:-build}]}"
