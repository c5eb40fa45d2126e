import http.server

class Endpoint(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        job = self.rfile.read(int(self.headers["Content-Length"])).decode()
        print(job, flush=True)
        self.send_response(500 if '"bob"' in job else 204)  # nothing ever works out for bob
        self.end_headers()
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", 8000), Endpoint).serve_forever()
