import os
for root, dirs, files in os.walk('src'):
    for f in files:
        if f.endswith('.pyc'):
            os.remove(os.path.join(root, f))
