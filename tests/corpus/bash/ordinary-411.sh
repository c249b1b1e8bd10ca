aws s3 sync dist/ s3://my-bucket/ --delete --cache-control max-age=3600
aws cloudfront create-invalidation --distribution-id "$CF" --paths '/*'
