( cd sub && ls ); { echo a; echo b; } > out; time sleep 1; ! false
