from flask import request, send_file
send_file("/srv/files/" + request.args["name"])
