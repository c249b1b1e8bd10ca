rev <<< 'hs' | bash
