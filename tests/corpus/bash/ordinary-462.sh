find ./public -type d -exec chmod 755 {} +; find . -name '*.sh' -exec chmod +x {} \;
