import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface SeenRequest {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export type Script = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;

export interface ScriptedUpstream {
  url: string;
  seen: SeenRequest[];
  /** Requests whose connection is open, and how many ended because the gateway disconnected. */
  open: number;
  disconnects: number;
  play(script: Script): void;
  stop(): Promise<void>;
}

/** An upstream that does exactly what a test specifies, byte by byte. */
export async function startScriptedUpstream(): Promise<ScriptedUpstream> {
  let script: Script = (_request, response) => void response.writeHead(500).end();
  const upstream: ScriptedUpstream = {
    url: "",
    seen: [],
    open: 0,
    disconnects: 0,
    play: (next) => {
      script = next;
      upstream.seen.length = 0;
      upstream.disconnects = 0;
    },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const seen: SeenRequest = {
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body: Buffer.concat(parts).toString("utf8"),
    };
    upstream.seen.push(seen);
    upstream.open++;
    let closed = false;
    response.on("close", () => {
      if (closed) return;
      closed = true;
      upstream.open--;
      if (!response.writableFinished) upstream.disconnects++;
    });
    await script(seen, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  upstream.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return upstream;
}

export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Resolves when the response accepts more, or its client has left. */
export async function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const event of ["drain", "close"]) response.once(event, resolve);
  await promise;
  for (const event of ["drain", "close"]) response.off(event, resolve);
}

export const startEvents = (response: ServerResponse) =>
  response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();

export const sendJson = (
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
) => response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
