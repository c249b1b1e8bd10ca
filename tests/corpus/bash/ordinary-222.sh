#!/bin/bash
cd "$(git rev-parse --show-toplevel)" || exit 1
rm -rf node_modules .next out coverage
find . -name '__pycache__' -type d -prune -exec rm -rf {} +
find . -name '*.o' -delete
