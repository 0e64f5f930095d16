/** A bare WebSocket proxy, with which the gateway is compared. The argument is the port of the host. Prints its own. */
const hostPort = Number(process.argv[2]);

interface Pair {
  host: WebSocket;
  waiting: string[];
}

const server = Bun.serve<Pair>({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request, own) => {
    const host = new WebSocket(`ws://127.0.0.1:${hostPort}/`);
    return own.upgrade(request, { data: { host, waiting: [] } }) ? undefined : new Response("no", { status: 400 });
  },
  websocket: {
    perMessageDeflate: false,
    open: (socket) => {
      const { host, waiting } = socket.data;
      host.onopen = () => {
        for (const frame of waiting.splice(0)) host.send(frame);
      };
      host.onmessage = ({ data }) => void socket.sendText(String(data));
      host.onclose = () => socket.close();
    },
    message: ({ data: { host, waiting } }, frame) => {
      if (host.readyState === WebSocket.OPEN) host.send(frame);
      else waiting.push(String(frame));
    },
    close: ({ data }) => data.host.close(),
  },
});
console.log(server.port);

export {};
