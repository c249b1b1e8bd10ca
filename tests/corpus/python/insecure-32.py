from werkzeug.serving import run_simple
run_simple("0.0.0.0", 5000, app, use_debugger=True)
