import { malformed } from "./failure.ts";

export interface ResponseHead {
  status: number;
  headers: ReadonlyMap<string, string>;
  /** Where the body ends: after this many bytes, with its last chunk, or when the connection closes. */
  framing: number | "chunked" | "close";
  /** Whether the host accepts another request on this connection. */
  keepAlive: boolean;
  /** How long the host keeps an idle connection, if it states it. */
  keepAliveMs: number | undefined;
}

/** No legitimate host sends more lines. The caller limits the size of the block. */
const MAX_HEADERS = 256;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
/** Longer lines are rarely repeated and not worth caching. */
const MAX_KNOWN_LINE = 200;
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const NOT_A_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
const LENGTH = /^\d{1,15}$/;
// Compiled once: a pattern inside a function would be a new object for every response.
const CLOSE = /\bclose\b/i;

/** Reads a head without its final blank line. Lines must end in CR LF. */
export function readResponseHead(text: string): ResponseHead {
  const firstEnd = lineEnd(text, 0);
  const match = STATUS_LINE.exec(text.slice(0, firstEnd));
  if (!match) throw malformed("its first line is not an HTTP/1.1 status line");
  const status = Number(match[2]);
  const headers = readHeaders(text, firstEnd + 2);
  const current = match[1] === "1";
  const framing = framingOf(status, headers, current);
  const keepAlive = current && framing !== "close" && !CLOSE.test(headers.get("connection") ?? "");
  return { status, headers, framing, keepAlive, keepAliveMs: keepAliveMs(headers.get("keep-alive")) };
}

function keepAliveMs(header: string | undefined): number | undefined {
  const seconds = header === undefined ? undefined : /\btimeout\s*=\s*(\d{1,6})/i.exec(header)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\r\n", from);
  return end < 0 ? text.length : end;
}

function readHeaders(text: string, from: number): Map<string, string> {
  const headers = new Map<string, string>();
  let name = "";
  for (let at = from, count = 0; at < text.length; count++) {
    if (count === MAX_HEADERS) throw malformed(`it has more than ${MAX_HEADERS} headers`);
    const end = lineEnd(text, at);
    const first = text.charCodeAt(at);
    if (first === 0x20 || first === 0x09) {
      // Obsolete line folding.
      if (name === "") throw malformed("its first header begins with a space");
      headers.set(name, `${headers.get(name)} ${readValue(text.slice(at, end))}`);
    } else {
      const expected = lastLines[count];
      const header =
        expected?.line.length === end - at && text.startsWith(expected.line, at)
          ? expected
          : readHeader(text.slice(at, end), count);
      const { value } = header;
      name = header.name;
      const before = headers.get(name);
      if (before !== undefined && name === "content-length")
        throw malformed("it has more than one content-length header");
      headers.set(name, before === undefined ? value : `${before}, ${value}`);
    }
    at = end + 2;
  }
  return headers;
}

interface Header {
  line: string;
  name: string;
  value: string;
}

/** The lines of recent responses by position. Most lines repeat, and comparing in place avoids cutting them out for a lookup. */
const lastLines: Header[] = [];

/** Hosts send mostly the same lines with every response, so parsed lines are cached. */
const MAX_KNOWN = 500;
const known = new Map<string, Header>();

function readHeader(line: string, place: number): Header {
  const header = known.get(line) ?? parseHeader(line);
  if (line.length <= MAX_KNOWN_LINE) lastLines[place] = header;
  return header;
}

function parseHeader(line: string): Header {
  const colon = line.indexOf(":");
  const written = colon < 0 ? "" : line.slice(0, colon);
  if (!NAME.test(written)) throw malformed("it has an invalid header name");
  const header = { line, name: written.toLowerCase(), value: readValue(line.slice(colon + 1)) };
  if (known.size === MAX_KNOWN) known.clear();
  if (line.length <= MAX_KNOWN_LINE) known.set(line, header);
  return header;
}

function readValue(text: string): string {
  if (NOT_A_VALUE.test(text)) throw malformed("it has a control character in a header value");
  return text.trim();
}

function framingOf(status: number, headers: ReadonlyMap<string, string>, current: boolean): ResponseHead["framing"] {
  const length = headers.get("content-length");
  const encoding = headers.get("transfer-encoding");
  if (length !== undefined && encoding !== undefined)
    throw malformed("it has both content-length and transfer-encoding headers");
  if (length !== undefined && !LENGTH.test(length)) throw malformed("its content-length is not a number");
  if (encoding !== undefined && (!current || encoding.toLowerCase() !== "chunked"))
    throw malformed("its transfer encoding is not supported");
  if (status < 200 || status === 204 || status === 304) return 0;
  if (encoding !== undefined) return "chunked";
  return length === undefined ? "close" : Number(length);
}
