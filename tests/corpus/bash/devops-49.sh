curl -fsS -u "$USER:$TOKEN" -X POST "$URL/job/x/build"
