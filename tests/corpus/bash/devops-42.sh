sudo rm -rf /var/lib/apt/lists/*
apt-get clean && rm -rf /var/cache/apt/archives/*
