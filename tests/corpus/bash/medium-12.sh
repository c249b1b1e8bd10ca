perl -e 'print 1'
