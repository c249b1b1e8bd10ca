git push --force --mirror origin
