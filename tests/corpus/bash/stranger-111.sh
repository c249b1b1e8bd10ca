node -e 'console.log("id")' | bash
