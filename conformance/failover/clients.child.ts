/** The clients of the failover run, in a process of their own: a job arrives as JSON, its results are the answer. */
import { send, type Traffic } from "./traffic.ts";

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  fetch: async (request) => Response.json(await send((await request.json()) as Traffic)),
});
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.port}` }));
