mod = __import__(input())
