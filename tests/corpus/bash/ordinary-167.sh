upper() { tr '[:lower:]' '[:upper:]'; }
echo hi | upper | rev
