./linpeas.sh > found.txt
