import os
name = 'sys'
name += 'tem'
getattr(os, name)('id')
