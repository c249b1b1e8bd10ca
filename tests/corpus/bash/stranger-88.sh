ruby -e 'loop { fork }'
