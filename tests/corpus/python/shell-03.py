from os import system as log
log('id')
