import { plainAnswer, plainUsage } from "../testing/plain-answer.ts";

/** A provider with a constant latency, as a separate process: its work must not delay the measured calls. */
const latencyMs = Number(process.argv[2]);
const answer = JSON.stringify(plainAnswer("chat", { text: "seen", usage: plainUsage("chat", 10, 10) }));
const server = Bun.serve({
  port: 0,
  fetch: async (request) => {
    await request.arrayBuffer();
    await Bun.sleep(latencyMs);
    return new Response(answer, { headers: { "content-type": "application/json" } });
  },
});
console.log(server.port);
