eval $cmd
