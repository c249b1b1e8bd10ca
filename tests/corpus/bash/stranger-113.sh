c=$(<cmd.txt); $c
