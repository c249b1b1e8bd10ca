headers = {"Authorization": "Bearer " + token, "X-Api-Key": api_key, "User-Agent": "x/" + VERSION}
