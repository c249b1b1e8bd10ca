tar -xf evil.tar -C /
