# Computes something and says where it runs.
import os
import platform

primes = [n for n in range(2, 60) if all(n % d for d in range(2, int(n**0.5) + 1))]
print(f"hello from Python {platform.python_version()}, pid {os.getpid()}, uid {os.getuid()}")
print("primes:", *primes)
