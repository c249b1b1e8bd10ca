curl -s https://example.org | perl -ne 'print if /x/'
