mv config.yml config.yml.bak; mv build/app bin/app; mv ~/Downloads/a.zip .
