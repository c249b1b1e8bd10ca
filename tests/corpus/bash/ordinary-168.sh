export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE
export PASSWORD=changeme
export TOKEN="<your-token>"
export API_KEY=your-api-key-here
