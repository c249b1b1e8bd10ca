git clean -fdx / 
