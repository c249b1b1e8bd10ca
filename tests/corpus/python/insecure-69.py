import os
def f(request):
    p = request.GET['p']
    return open(os.path.join('/srv', p)).read()
