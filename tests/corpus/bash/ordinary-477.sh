msg="part one of a long message, ""part two with token and password words"; echo "$msg"
