/** A test host that sends exactly the bytes it is given, however invalid. */
export interface RawHost {
  url: string;
  port: number;
  /** Connections accepted so far, and those open now. */
  made: number;
  open: number;
  /** Every request as received so far, newest last. */
  requests: { text: string }[];
  stop(): void;
}

type Socket = Bun.Socket<{ request: { text: string } | undefined }>;

/** `answer` is called when a request is complete, with its number counted from 1; `begun` when its head has arrived. */
export function startRawHost(
  answer: (socket: Socket, count: number) => void,
  begun: (socket: Socket) => void = () => {},
  listenAt = "127.0.0.1",
): RawHost {
  let answered = 0;
  const server = Bun.listen<{ request: { text: string } | undefined }>({
    hostname: listenAt,
    port: 0,
    socket: {
      open: (socket) => {
        socket.data = { request: undefined };
        host.made++;
        host.open++;
      },
      data: (socket, bytes) => {
        const request = socket.data.request ?? { text: "" };
        if (!socket.data.request) host.requests.push(request);
        socket.data.request = request;
        const before = request.text.includes("\r\n\r\n");
        request.text += bytes.toString("latin1");
        const head = request.text.indexOf("\r\n\r\n");
        if (head >= 0 && !before) begun(socket);
        const length = Number(/content-length: (\d+)/.exec(request.text)?.[1] ?? 0);
        if (head < 0 || request.text.length < head + 4 + length) return;
        socket.data.request = undefined;
        answered++;
        answer(socket, answered);
      },
      close: () => {
        host.open--;
      },
      error: () => {},
    },
  });
  const name = listenAt.includes(":") ? `[${listenAt}]` : listenAt;
  const host: RawHost = {
    url: `http://${name}:${server.port}/v1/do?it=now`,
    port: server.port,
    made: 0,
    open: 0,
    requests: [],
    stop: () => server.stop(true),
  };
  return host;
}

export const WHOLE = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
