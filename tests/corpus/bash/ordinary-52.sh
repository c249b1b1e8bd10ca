declare -A m; m[a]=1; echo ${m[a]}
