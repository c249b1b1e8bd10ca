for f in *.in; do ./solve "$f" > "${f%.in}.out" & done
wait
