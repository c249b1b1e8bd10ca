./server & pid=$!
trap 'kill $pid' EXIT
sleep 1
./client
