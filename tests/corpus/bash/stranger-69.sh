zsh -c 'zmodload zsh/net/tcp; ztcp shop.test 4444'
