import os as operating
operating.system('id')
