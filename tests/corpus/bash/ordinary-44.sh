ln -s target link
