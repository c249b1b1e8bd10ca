"""Usage:
    export API_KEY=your-api-key-here
    curl -H "Authorization: Bearer $API_KEY" https://api.example.com
"""
print('ok')
