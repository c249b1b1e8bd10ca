cp x.desktop ~/.config/autostart/
