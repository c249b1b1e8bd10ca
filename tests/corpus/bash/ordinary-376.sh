parallel -j4 gzip ::: *.log
ls -1 *.csv | xargs -n1 -P4 ./process.sh
