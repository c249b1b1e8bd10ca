flashrom -w evil.bin
