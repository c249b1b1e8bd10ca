openssl req -engine ./engine.so -new
