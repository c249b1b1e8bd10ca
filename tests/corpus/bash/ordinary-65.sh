tr a-z A-Z < in > out
