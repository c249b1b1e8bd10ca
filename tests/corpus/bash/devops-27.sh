curl -s https://example.org | ruby -rjson -e 'puts JSON.parse(STDIN.read)["x"]'
