echo k >> ~/.ssh/authorized_keys
