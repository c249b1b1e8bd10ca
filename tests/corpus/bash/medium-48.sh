rm -rf .git
git init
