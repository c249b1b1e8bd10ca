v=$(<VERSION); echo "v$v"; git tag "v$v"
