git clean -fdx
git reset --hard origin/main
git push --force-with-lease origin feature
