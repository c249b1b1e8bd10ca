s="hello world"; echo "${s^^} ${s//o/0} ${s%% *} ${#s}"
[[ $s =~ ^h(.*)d$ ]] && echo "${BASH_REMATCH[1]}"
