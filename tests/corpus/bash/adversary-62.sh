apt-get install -y --allow-unauthenticated evil
