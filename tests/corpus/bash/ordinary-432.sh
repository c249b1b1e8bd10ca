sed -i 's/DEBUG=true/DEBUG=false/' .env && sed -n '1,10p' README.md
