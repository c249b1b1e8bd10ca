echo x | at now + 1 minute
