cmd=(rsync -a --exclude .git)
[ -n "${DRY:-}" ] && cmd+=(-n)
"${cmd[@]}" src/ dst/
