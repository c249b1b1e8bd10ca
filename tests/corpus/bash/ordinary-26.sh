if [ -f config.sh ]; then
  . ./config.sh
fi
