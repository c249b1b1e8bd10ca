PATH=/tmp:$PATH
