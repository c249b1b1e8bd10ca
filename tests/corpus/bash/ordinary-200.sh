printf '%s\n' a b c | xargs -n1 -P2 echo item
seq 5 | xargs -I{} touch file{}.txt
