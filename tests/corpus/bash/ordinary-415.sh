pids=$(pgrep -f myapp) && kill $pids || echo none
wait
