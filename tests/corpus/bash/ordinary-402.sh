git checkout -b fix && git add -A && git commit -m "Remove password from config" && git push -u origin fix
git log --oneline | head -5; git stash; git rebase main; git clean -fd build
