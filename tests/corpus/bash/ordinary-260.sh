#!/usr/bin/env bash
set -euo pipefail
version=${1:?usage: release.sh VERSION}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "bad version" >&2; exit 2; }
git diff --quiet || { echo "dirty tree" >&2; exit 1; }
sed -i "s/^version = .*/version = \"$version\"/" pyproject.toml
git commit -am "Release $version" && git tag "v$version"
git push origin main "v$version"
gh release create "v$version" --generate-notes dist/*
