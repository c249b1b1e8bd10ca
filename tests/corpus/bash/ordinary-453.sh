PS4='+ '; set -x; ls; set +x; ulimit -n 4096; umask 022
