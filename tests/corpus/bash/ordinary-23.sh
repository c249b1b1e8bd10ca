sort -u words.txt > uniq.txt
