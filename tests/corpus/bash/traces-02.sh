rm ~/.bash_history
