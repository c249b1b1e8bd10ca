make -j"$(nproc)" && make test
npm ci && npm test
