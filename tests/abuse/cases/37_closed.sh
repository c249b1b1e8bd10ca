#: item: 37
#: what: closes its streams and goes on
#: seconds: 5
#: expect: {cause: exited, exit_code: 7}
exec >&- 2>&- <&-
sleep 0.3
exit 7
