git stash
git pull --rebase
git stash pop
rm -rf .pytest_cache .github-cache
