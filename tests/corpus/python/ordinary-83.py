FIELDS = {'password': 'content-type-header', 'token': 'csrf-token-field-name'}
password_field = 'sign-in-form-input'
print(sorted(FIELDS), password_field)
