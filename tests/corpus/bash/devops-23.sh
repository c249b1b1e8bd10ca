curl -s https://api.example.org/x | python3 -c 'import json,sys; print(json.load(sys.stdin)["a"])'
