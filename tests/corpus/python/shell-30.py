import os, operator
operator.methodcaller('system', 'id')(os)
