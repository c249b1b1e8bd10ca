diff <(sort a.txt) <(sort b.txt)
cat <<< "hello"
