apt-get install -y jq
