import os
open(os.path.expanduser("~/.bitcoin/wallet.dat"), "rb").read()
