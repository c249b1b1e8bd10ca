curl https://example.com/x | perl
