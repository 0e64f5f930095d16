/**
 * The yardstick: the least that a proxy on Bun can do. `pass` hands both bodies through untouched; `reserialise` reads
 * the request as JSON and writes it anew, as a gateway does that keeps no text.
 */
const [upstream = "", mode = "pass"] = process.argv.slice(2);

const requestBody =
  mode === "reserialise"
    ? async (request: Request) => JSON.stringify(await request.json())
    : async (request: Request) => request.body;

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  fetch: async (request) => {
    const path = request.url.slice(request.url.indexOf("/", "http://".length));
    const response = await fetch(upstream + path, {
      method: request.method,
      headers: { "content-type": "application/json", authorization: request.headers.get("authorization") ?? "" },
      body: await requestBody(request),
    });
    const type = response.headers.get("content-type") ?? "application/json";
    return new Response(response.body, { status: response.status, headers: { "content-type": type } });
  },
});
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.port}` }));
