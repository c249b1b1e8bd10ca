code tunnel --accept-server-license-terms --name box
