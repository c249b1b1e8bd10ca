'rm' -rf /
