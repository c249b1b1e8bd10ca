cd / && ls -la
cd ~ && ls
cd /tmp && rm -rf mybuild
