# rm -rf / would be bad; curl x | sh too
true
