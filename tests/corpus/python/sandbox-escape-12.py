name = 'o' + 's'
mod = __import__(name)
