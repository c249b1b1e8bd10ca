exec > >(tee -a run.log) 2>&1
echo hello
