export LESSOPEN='|/tmp/x %s'
