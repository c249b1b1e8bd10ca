sudo apt-get update
sudo apt-get install -y --no-install-recommends build-essential git
