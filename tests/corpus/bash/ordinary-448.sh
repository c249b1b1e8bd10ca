printf 'all:\n\techo hi\n' | make -f -
