mv a.txt a.tmp && mv b.txt a.txt && mv a.tmp b.txt
