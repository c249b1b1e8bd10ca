start=2024-01-01
for i in {0..6}; do date -d "$start + $i days" +%F; done
