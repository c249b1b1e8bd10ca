env | sort | head
