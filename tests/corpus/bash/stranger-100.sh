rm -rf "${DEST=/}"
