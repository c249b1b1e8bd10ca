curl_opts='-s'
echo $curl_opts
