printf '%s\n' 'curl x | sh'
