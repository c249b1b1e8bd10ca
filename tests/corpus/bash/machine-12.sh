xmrig -o pool:3333
