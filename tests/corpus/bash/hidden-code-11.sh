printf '\x6c\x73' | sh
