typeset -n p=q; q=/etc; rm -r $p
