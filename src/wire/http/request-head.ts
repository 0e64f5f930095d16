import { inOnePiece } from "../../base/one-piece.ts";
import { HttpFailure } from "./failure.ts";
import type { HttpMethod } from "./http-exchange.ts";
import type { RequestUrl } from "./request-url.ts";

const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const NOT_A_VALUE = /[^\t\x20-\x7e]/;
/** Headers that this client sets. A caller's values could make one request look like two. */
const OWN = new Set(["host", "content-length", "transfer-encoding", "connection"]);

/** The head of the request. A value that could end a line early is rejected, not repaired. */
export function requestHead(
  method: HttpMethod,
  requestUrl: RequestUrl,
  headers: Readonly<Record<string, string>>,
  bodyBytes: number,
  ownLines = "",
): string {
  let lines = known.get(headers);
  if (lines === undefined) {
    const encoding = "accept-encoding" in headers ? "" : "accept-encoding: identity\r\n";
    lines = inOnePiece(headerLines(headers) + encoding);
    known.set(headers, lines);
  }
  const { target, hostHeader } = requestUrl;
  const length = method === "GET" ? "" : `content-length: ${bodyBytes}\r\n`;
  return `${method} ${target} HTTP/1.1\r\nhost: ${hostHeader}\r\n${lines}${ownLines}${length}\r\n`;
}

/** Callers reuse their header objects between requests and never change them. */
const known = new WeakMap<Readonly<Record<string, string>>, string>();

function headerLines(headers: Readonly<Record<string, string>>): string {
  let lines = "";
  for (const name in headers) {
    const value = headers[name] ?? "";
    if (!NAME.test(name) || OWN.has(name.toLowerCase())) throw refused(name, "its name is not allowed");
    if (NOT_A_VALUE.test(value)) throw refused(name, "its value contains characters that are not printable ASCII");
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

/** The value is not shown, since it may be a credential. */
const refused = (name: string, why: string) =>
  new HttpFailure("connect", `cannot send the header ${JSON.stringify(name.slice(0, 80))}: ${why}`);
