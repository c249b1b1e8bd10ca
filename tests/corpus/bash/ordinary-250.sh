source <(kubectl completion bash)
source ~/.cargo/env
