#!/bin/bash
resp=$(curl -sf -H "Authorization: Bearer ${TOKEN}" "https://api.example.org/v1/me")
name=$(echo "$resp" | python3 -c 'import json,sys; print(json.load(sys.stdin)["name"])')
echo "hello $name"
curl -s https://api.example.org/v1/status | python3 -m json.tool
