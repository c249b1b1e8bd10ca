rm --recursive --force /usr
