#!/bin/bash
while true; do
  ./server &
  pid=$!
  inotifywait -qq -e modify -r src
  kill "$pid"; wait "$pid" 2>/dev/null
done
