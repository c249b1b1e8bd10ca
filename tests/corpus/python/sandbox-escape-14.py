import os
getattr(os, input())('x')
