import base64, hashlib, hmac, http.server, time

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # the line of secret_file; yours, not this one
KEY = base64.b64decode(SECRET.removeprefix("whsec_"))

def is_ours(headers, body):
    stamp = headers["webhook-timestamp"]
    signed = f"{headers['webhook-id']}.{stamp}.".encode() + body  # the bytes as they came
    mac = "v1," + base64.b64encode(hmac.digest(KEY, signed, hashlib.sha256)).decode()
    fresh = abs(time.time() - int(stamp)) < 300
    return fresh and any(hmac.compare_digest(mac, s) for s in headers["webhook-signature"].split())

class Endpoint(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        ours = "webhook-id" in self.headers and is_ours(self.headers, body)
        print(self.headers["Idempotency-Key"], "is ours" if ours else "is not ours", flush=True)
        self.send_response(204 if ours else 401)
        self.end_headers()
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", 8000), Endpoint).serve_forever()
