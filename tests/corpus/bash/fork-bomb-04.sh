function x { x | x & }
x
