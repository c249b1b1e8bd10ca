find / -name '*.conf' -exec rm -f {} +
