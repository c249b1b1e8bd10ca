base64 --decode <<< cm0= | bash
