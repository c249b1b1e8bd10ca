node -v && npx tsc --noEmit && node scripts/build.js
