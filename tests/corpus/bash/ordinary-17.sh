git log --oneline | head -5
