chown -R "$USER": ./data
