cd; rm -rf * .*
