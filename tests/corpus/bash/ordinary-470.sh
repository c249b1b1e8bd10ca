htpasswd -c .htpasswd bob; openssl passwd -6 -stdin; keytool -list -keystore k.jks
