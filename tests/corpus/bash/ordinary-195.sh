id=$(cat /proc/sys/kernel/random/uuid)
echo "$id 6ba7b810-9dad-11d1-80b4-00c04fd430c8"
