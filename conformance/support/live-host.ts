import type { JsonObject } from "../../src/base/json.ts";

type Socket = Bun.ServerWebSocket<{ path: string; headers: Headers }>;

/** How a host of live connections behaves, over real sockets. */
export interface LiveHostScript {
  /** Refuses the handshake with this status. */
  status?: number;
  opened?(say: (event: object) => void): void;
  heard?(event: JsonObject, say: (event: object) => void, socket: Socket): void;
}

export interface LiveHost extends Disposable {
  readonly url: string;
  /** What was received, over all connections. */
  readonly events: JsonObject[];
  readonly closes: number[];
  readonly handshakes: { path: string; headers: Headers }[];
  play(script: LiveHostScript): void;
}

/** A scripted host of live connections on a free port. */
export function startLiveHost(): LiveHost {
  let script: LiveHostScript = {};
  const events: JsonObject[] = [];
  const closes: number[] = [];
  const handshakes: { path: string; headers: Headers }[] = [];
  const sayTo =
    (socket: Socket) =>
    (event: object): void =>
      void socket.send(JSON.stringify(event));
  const server = Bun.serve<{ path: string; headers: Headers }>({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, own) => {
      const { pathname, search } = new URL(request.url);
      const data = { path: pathname + search, headers: request.headers };
      handshakes.push(data);
      if (script.status !== undefined) return new Response("refused", { status: script.status });
      return own.upgrade(request, { data }) ? undefined : new Response("no", { status: 400 });
    },
    websocket: {
      open: (socket) => script.opened?.(sayTo(socket)),
      message: (socket, frame) => {
        const event = JSON.parse(String(frame)) as JsonObject;
        events.push(event);
        script.heard?.(event, sayTo(socket), socket);
      },
      close: (_socket, code) => void closes.push(code),
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    events,
    closes,
    handshakes,
    play: (next) => {
      script = next;
      events.length = 0;
      closes.length = 0;
      handshakes.length = 0;
    },
    [Symbol.dispose]: () => void server.stop(true),
  };
}
