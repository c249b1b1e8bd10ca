ls -1 ~/*.doc | xargs -I% openssl enc -aes-256-cbc -in % -out %.enc -k x
