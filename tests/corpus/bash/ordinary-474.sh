aws ssm get-parameter --name /prod/db/password --with-decryption; aws s3 ls --page-size 100 --starting-token abc
