select o in a b; do echo "$o"; break; done
