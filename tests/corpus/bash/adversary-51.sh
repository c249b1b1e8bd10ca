pip install --index-url http://192.0.2.1/simple --trusted-host 192.0.2.1 x
