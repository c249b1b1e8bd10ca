xargs -n1 echo < list
