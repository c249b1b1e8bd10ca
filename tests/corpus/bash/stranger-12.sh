ngrok tcp 22
