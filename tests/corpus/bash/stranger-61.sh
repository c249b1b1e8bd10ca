gh repo delete shop/site --yes
