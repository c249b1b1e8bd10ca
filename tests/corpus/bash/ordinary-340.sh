echo "meet at noon"
