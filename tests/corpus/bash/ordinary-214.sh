for r in ~/src/*/; do
  echo "== $r"
  git -C "$r" fetch --prune --quiet
  git -C "$r" status --short --branch
  git -C "$r" branch --merged | grep -v '^\*' | xargs -r git -C "$r" branch -d
done
