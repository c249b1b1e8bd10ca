greet() { local name=${1:-world}; echo "hello, $name"; }
greet; greet bob
