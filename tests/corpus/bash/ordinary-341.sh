env | grep ^APP_
printenv HOME
export -p | grep PATH
