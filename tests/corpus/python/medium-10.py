import sys
frame = sys._getframe(1)
