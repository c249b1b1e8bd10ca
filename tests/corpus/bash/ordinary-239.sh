npm ci
npm run lint && npm test
npx tsc --noEmit
