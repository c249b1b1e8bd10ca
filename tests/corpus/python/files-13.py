p = '/etc/' + 'shadow'
open(p)
