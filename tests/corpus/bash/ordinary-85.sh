openssl rand -hex 8
