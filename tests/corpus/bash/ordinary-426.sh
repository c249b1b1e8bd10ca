x=$(( RANDOM % 10 )); until (( x == 0 )); do (( x-- )); done
