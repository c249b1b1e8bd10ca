echo 'id' >> $HOME/.profile
