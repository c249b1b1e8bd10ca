history_file=x
echo $history_file
