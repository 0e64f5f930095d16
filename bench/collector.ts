/** Accepts telemetry immediately, so that the benchmark only measures the gateway's own work. */
const collector = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    await request.arrayBuffer();
    return Response.json({});
  },
});
console.log(JSON.stringify({ url: `http://127.0.0.1:${collector.port}` }));
