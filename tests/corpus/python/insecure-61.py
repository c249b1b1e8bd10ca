from flask_cors import CORS
CORS(app, origins="*", supports_credentials=True)
