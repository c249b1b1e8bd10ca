r$@m -rf /
