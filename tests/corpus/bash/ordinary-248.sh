tmux new-session -d -s dev 'vim'
tmux split-window -h 'npm start'
tmux attach -t dev
