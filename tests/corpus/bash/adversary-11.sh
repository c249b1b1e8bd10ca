echo / | parallel rm -rf
