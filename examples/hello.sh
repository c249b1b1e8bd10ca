#!/bin/bash
# Counts words the way shell scripts do.
text="the quick brown fox jumps over the lazy dog and the cat"
echo "hello from bash $BASH_VERSION, pid $$"
tr ' ' '\n' <<<"$text" | sort | uniq -c | sort -rn | head -3
