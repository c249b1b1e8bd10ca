perl -pi -e 's/foo/bar/g' *.txt
python3 -c 'print("hi")'
python3 -c 'import sys; print(sys.version)'
