find ~ -name '*.md' -newer ref -print
find /usr/share -name '*.gz' | wc -l
