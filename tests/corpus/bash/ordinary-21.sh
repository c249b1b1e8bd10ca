sed -i 's/a/b/' file.txt
