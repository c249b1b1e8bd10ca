eval "$(ssh-agent -s)"
ssh-add -l
