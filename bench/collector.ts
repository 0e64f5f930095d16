/** Takes telemetry and says so: what a gateway that exports pays for is its own work. */
const collector = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    await request.arrayBuffer();
    return Response.json({});
  },
});
console.log(JSON.stringify({ url: `http://127.0.0.1:${collector.port}` }));
