import { connect, type Socket } from "node:net";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { buildCall, type CallOptions } from "../../testing/build-call.ts";

export const callGateway = (base: string, dialect: DialectName, key: string, options?: CallOptions) =>
  fetch(...buildCall(base, dialect, key, options));

/** A connection with only the head of a call sent, for clients that are slower or ruder than `fetch`. */
export function beginCall([url, init]: [string, RequestInit], contentLength: number): Socket {
  const { hostname, port, pathname } = new URL(url);
  const headers = { host: hostname, "content-length": String(contentLength), ...(init.headers as object) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(Number(port), hostname);
  // Without a listener, an error would fail whatever test runs when it happens, in this file or a later one.
  socket.on("error", () => {});
  socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.join("")}\r\n`);
  return socket;
}

/** The content of an error response, whatever the protocol. */
export async function errorOf(
  response: Response,
): Promise<{ status: number; type: string; message: string; raw: string }> {
  const raw = await response.text();
  const { error } = JSON.parse(raw) as { error: { type?: string; status?: string; message: string } };
  return { status: response.status, type: error.type ?? error.status ?? "", message: error.message, raw };
}
