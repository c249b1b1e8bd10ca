import aiohttp
conn = aiohttp.TCPConnector(verify_ssl=False)
