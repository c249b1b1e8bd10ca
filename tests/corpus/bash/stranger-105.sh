rm -rfv ~root
