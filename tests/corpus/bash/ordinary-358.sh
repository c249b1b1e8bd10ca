export PATH="$HOME/bin:$PATH"
export EDITOR=vim
export API_KEY="${API_KEY:-}"
