find . -type f -name '*.log' -exec gzip {} +
