n=$(wc -l < file); [[ $n -gt 10 ]] && echo big
x=$(( n * 2 )); echo "${x}"
