npm ci && npm run build && npm test -- --coverage
rm -rf node_modules dist && npm cache clean --force
