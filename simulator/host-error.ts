/** The failures that every host can be asked to play, each in its own words. */
export type FailureName = "400" | "401" | "403" | "404" | "413" | "429" | "429-quota" | "500" | "503" | "529";

/** An answer that is an error, in the words of the host that is being played. */
export class HostError extends Error {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body: string, headers: Readonly<Record<string, string>> = {}) {
    super(body);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }

  toResponse(): Response {
    return new Response(this.body, {
      status: this.status,
      headers: { "content-type": "application/json; charset=UTF-8", ...this.headers },
    });
  }
}

/** The error page of a proxy before the host, which looks the same for every host. */
export class BadGateway extends HostError {
  constructor() {
    super(502, "<html><body><h1>502 Bad Gateway</h1></body></html>", { "content-type": "text/html" });
  }
}
