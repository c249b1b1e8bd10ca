echo 6c73 | xxd -r -p | bash
