gcc -O2 -Wall -o prog main.c && ./prog
cmake -S . -B build && cmake --build build -j
ctest --test-dir build
