echo "scale=4; 4*a(1)" | bc -l
