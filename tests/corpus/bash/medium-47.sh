git stash clear
git reflog expire --expire=now --all
