import { connect, type Socket } from "node:net";
import { createServer } from "node:tls";
import { fileURLToPath } from "node:url";

/** TLS in front of a gateway, as a proxy would end it. */
export interface SecureFront {
  url: string;
  /** The file with the authority that a client must trust. */
  authority: string;
  stop(): Promise<void>;
}

const FIXTURES = new URL("../../src/wire/http/fixtures/", import.meta.url);

/** For vendors' clients that only open `wss:`. */
export async function startSecureFront(gatewayUrl: string): Promise<SecureFront> {
  const pem = await Bun.file(new URL("good.pem", FIXTURES)).text();
  const { hostname, port } = new URL(gatewayUrl);
  const open = new Set<Socket>();
  const server = createServer({ key: pem, cert: pem }, (socket) => {
    const inner = connect(Number(port), hostname);
    socket.pipe(inner).pipe(socket);
    for (const end of [socket, inner]) {
      open.add(end);
      end.on("error", () => end.destroy());
      end.on("close", () => open.delete(end));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    url: `https://127.0.0.1:${address.port}`,
    authority: fileURLToPath(new URL("authority.pem", FIXTURES)),
    stop: async () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
