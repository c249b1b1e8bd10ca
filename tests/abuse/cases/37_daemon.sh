#: item: 37
#: what: a grandchild floods after the script has ended
#: seconds: 5
(setsid bash -c 'while :; do echo x; done' &)
sleep 0.2
exit 0
