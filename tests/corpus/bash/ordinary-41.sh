chown me:me file
