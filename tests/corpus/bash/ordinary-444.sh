yes | head -5; seq 1 10 | paste -sd+ | bc; tr a-z A-Z < f | rev | cut -c1-5
