git fetch --prune
git log --oneline -n 5
git diff --stat HEAD~1
branch=$(git rev-parse --abbrev-ref HEAD)
git commit -m "Update" && git push origin "$branch"
