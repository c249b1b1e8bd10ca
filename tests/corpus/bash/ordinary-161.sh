mkfifo pipe
cat pipe > out.txt &
echo data > pipe
wait
