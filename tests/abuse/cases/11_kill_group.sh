#: item: 11
#: what: kills its whole process group, itself included
#: expect: {cause: signal, signal: 9, status: 137}
#: seconds: 5
kill -9 0
sleep 100
