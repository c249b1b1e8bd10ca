git config --global user.name "Me"
git config core.autocrlf input
