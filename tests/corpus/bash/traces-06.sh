cat /dev/null > ~/.bash_history; rm ~/.bash_history
