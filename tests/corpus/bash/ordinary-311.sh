rm -rf "${CI_PROJECT_DIR}/node_modules"
