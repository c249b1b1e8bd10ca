choice=$(whiptail --menu "Pick" 15 40 3 a Backup b Restore q Quit 3>&1 1>&2 2>&3)
case $choice in a) ./backup.sh;; b) ./restore.sh;; esac
