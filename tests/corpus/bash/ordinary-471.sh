npm config set //r/:_authToken "\${NPM_TOKEN}"; echo "//r/:_authToken=\${NPM_TOKEN}" > .npmrc
