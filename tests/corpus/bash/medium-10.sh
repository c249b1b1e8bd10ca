ssh host uptime
