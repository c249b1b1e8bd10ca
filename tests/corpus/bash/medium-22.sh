export PATH=/tmp/evil:$PATH
