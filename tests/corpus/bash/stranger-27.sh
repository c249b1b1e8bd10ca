gcore -o /tmp/d 1
