for v in DATABASE_URL SECRET_KEY API_TOKEN; do
  if [ -z "${!v:-}" ]; then echo "missing $v" >&2; missing=1; fi
done
exit "${missing:-0}"
