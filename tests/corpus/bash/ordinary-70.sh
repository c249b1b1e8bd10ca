du -sh ~/projects
