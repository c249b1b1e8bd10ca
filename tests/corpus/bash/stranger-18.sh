python3 -c "$(echo cHJpbnQoMSk= | base64 -d)"
