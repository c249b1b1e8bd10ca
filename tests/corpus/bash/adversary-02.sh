aws s3 rb s3://bucket --force
