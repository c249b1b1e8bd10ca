use=$(df --output=pcent / | tail -1 | tr -dc 0-9)
if (( use > 90 )); then
  echo "disk ${use}% full on $(hostname)" | mail -s alert ops@example.org
fi
