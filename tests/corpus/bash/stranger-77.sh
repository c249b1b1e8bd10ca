v=/tmp; v=${v%tmp}; rm -rf $v
