npm config set registry http://x.example && npm i
