aa-teardown; apparmor_parser -R /etc/apparmor.d/usr.bin.x
