perl -MMIME::Base64 -e 'eval decode_base64("cHJpbnQgMQ==")'
