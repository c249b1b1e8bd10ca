import os
getattr(os, 'system')('id')
