reboot
