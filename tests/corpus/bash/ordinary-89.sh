nl file | sed -n '2,4p'
