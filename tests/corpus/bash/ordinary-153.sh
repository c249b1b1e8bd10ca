jq -r '.items[] | select(.active) | "\(.id)\t\(.name)"' data.json > out.tsv
