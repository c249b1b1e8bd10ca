grep -rn --include='*.py' 'TODO' src | cut -d: -f1 | sort | uniq -c | sort -rn
