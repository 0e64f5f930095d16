import { connect, type Socket } from "node:net";

/** A client that is ruder than `fetch`: it disconnects when and how it likes. */
export interface Visit {
  /** Everything received. */
  text: string;
  ms: number;
}

export type CloseKind = "closes" | "resets" | "sends FIN and reads on";

const TIMEOUT_MS = 20_000;

/** The bytes of a request. */
export function requestBytes([url, init]: [string, RequestInit], extra: Record<string, string> = {}): string {
  const { hostname, pathname, search } = new URL(url);
  const body = String(init.body ?? "");
  const headers = {
    host: hostname,
    ...(init.headers as Record<string, string>),
    "content-length": String(Buffer.byteLength(body)),
    ...extra,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${init.method} ${pathname}${search} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}

export function open(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  return socket;
}

/** Sends a request, and disconnects as soon as `disconnectWhen` returns true. */
export async function visit(
  call: [string, RequestInit],
  disconnectWhen: (text: string, ms: number) => boolean,
  close: CloseKind = "closes",
): Promise<Visit> {
  const socket = open(call[0]);
  const startedMs = performance.now();
  let text = "";
  let closed = false;
  let changed = Promise.withResolvers<void>();
  const notice = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  socket.on("data", (data) => {
    text += data;
    notice();
  });
  socket.on("close", () => {
    closed = true;
    notice();
  });
  socket.write(requestBytes(call));
  const since = () => performance.now() - startedMs;
  while (!closed && !disconnectWhen(text, since()) && since() < TIMEOUT_MS)
    await Promise.race([changed.promise, Bun.sleep(5)]);
  if (close === "sends FIN and reads on") {
    socket.end();
    while (!closed && since() < TIMEOUT_MS) await Promise.race([changed.promise, Bun.sleep(20)]);
  } else if (close === "resets") socket.resetAndDestroy();
  else socket.destroy();
  return { text, ms: since() };
}

/** Sends bytes, and returns everything received until the connection is closed or some time has passed. */
export async function exchange(
  url: string,
  bytes: string | Buffer,
  withinMs = 3_000,
): Promise<Visit & { closed: boolean }> {
  const socket = open(url);
  const startedMs = performance.now();
  let text = "";
  const closed = Promise.withResolvers<boolean>();
  socket.on("data", (data) => {
    text += data;
  });
  socket.on("close", () => closed.resolve(true));
  socket.write(bytes);
  const timer = setTimeout(() => closed.resolve(false), withinMs);
  const isClosed = await closed.promise;
  clearTimeout(timer);
  socket.destroy();
  return { text, ms: performance.now() - startedMs, closed: isClosed };
}

export const statusesOf = (text: string): string =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status).join(", ") || "no answer";
