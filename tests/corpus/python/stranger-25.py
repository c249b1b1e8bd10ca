import builtins
builtins.__dict__['print'] = builtins.exec
print('1')
