getattr(__builtins__, 'ex' + 'ec')('print(1)')
