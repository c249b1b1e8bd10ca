exec > >(tee -a run.log) 2>&1; exec 3< input; read -r l <&3; exec 3<&-
