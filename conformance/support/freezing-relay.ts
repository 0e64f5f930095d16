import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP relay in front of a server, which can do what hosts and networks do when they fail silently. */
export interface FreezingRelay {
  port: number;
  /** Nothing is passed on any more, and no connection is closed: a frozen host, a pooler that hangs. */
  freeze(): void;
  /** Connections that are open fall silent for good, new ones work: a firewall that forgot them, a host that was replaced. */
  forget(): void;
  /** Every connection is cut and new ones are refused: a server that was stopped. */
  refuse(): Promise<void>;
  /** Works again, with what was frozen before. */
  thaw(): Promise<void>;
  stop(): Promise<void>;
}

export async function startRelay(target: { hostname: string; port: string | number }): Promise<FreezingRelay> {
  let frozen = false;
  const pairs = new Set<readonly [Socket, Socket]>();
  const forgotten = new Set<readonly [Socket, Socket]>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    const pair = [near, far] as const;
    pairs.add(pair);
    const pass = (from: Socket, to: Socket) => {
      from.on("data", (bytes) => void to.write(bytes));
      from.on("error", () => {});
      from.on("close", () => {
        to.destroy();
        pairs.delete(pair);
        forgotten.delete(pair);
      });
      if (frozen) from.pause();
    };
    pass(near, far);
    pass(far, near);
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      for (const [near] of pairs) near.destroy();
      server.close(() => resolve());
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    freeze: () => {
      frozen = true;
      for (const pair of pairs) for (const socket of pair) socket.pause();
    },
    forget: () => {
      for (const pair of pairs) {
        forgotten.add(pair);
        for (const socket of pair) socket.pause();
      }
    },
    refuse: close,
    thaw: async () => {
      frozen = false;
      if (!server.listening) await listen(port);
      for (const pair of pairs) if (!forgotten.has(pair)) for (const socket of pair) socket.resume();
    },
    stop: async () => {
      if (server.listening) await close();
    },
  };
}
