/** The clients of the failover run, in a separate process: a job arrives as JSON and is answered with its results. */
import { send, type Traffic } from "./traffic.ts";

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  fetch: async (request) => Response.json(await send((await request.json()) as Traffic)),
});
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.port}` }));
