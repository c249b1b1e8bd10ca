x = [eval, len][0]('1')
