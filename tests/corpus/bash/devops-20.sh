args=(--archive --compress --delete --exclude=.git)
[[ ${DRY:-0} == 1 ]] && args+=(--dry-run)
rsync "${args[@]}" ./site/ deploy@example.org:/srv/site/
