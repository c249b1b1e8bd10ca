zcat x.gz | perl -lane 'print $F[0]'
