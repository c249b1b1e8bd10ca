perl -MLWP::Simple -e 'eval get("http://e.example/x")'
