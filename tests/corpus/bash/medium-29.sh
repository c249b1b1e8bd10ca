python3 -c 'import sys; print(sys.version)'
