git commit -m 'remove eval and exec'
