assert eval('True')
