echo "deb https://x stable main" | sudo tee /etc/apt/sources.list.d/x.list
