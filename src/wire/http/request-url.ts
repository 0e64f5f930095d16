import { HttpFailure } from "./failure.ts";

/** A URL split into the parts that a request needs. */
export interface RequestUrl {
  url: string;
  /** Connections may be shared within an origin. */
  origin: string;
  secure: boolean;
  /** In the resolver's form: an IPv6 address has no brackets. */
  hostname: string;
  port: number;
  hostHeader: string;
  /** Path and query. */
  target: string;
}

const FORBIDDEN = /[^\x21-\x7e]/;
/** A gateway calls few URLs, each many times. */
const MAX_KNOWN = 1000;
const known = new Map<string, RequestUrl>();

export function readRequestUrl(url: string): RequestUrl {
  const seen = known.get(url);
  if (seen) return seen;
  const requestUrl = parseRequestUrl(url);
  if (known.size === MAX_KNOWN) known.clear();
  known.set(url, requestUrl);
  return requestUrl;
}

function parseRequestUrl(url: string): RequestUrl {
  const refuse = (why: string) => new HttpFailure("connect", `cannot call the URL: ${why}`);
  // The parser would silently drop or rewrite such characters, and the request would go to another URL.
  if (FORBIDDEN.test(url)) throw refuse("it contains a space or a character that is not printable ASCII");
  const parsed = URL.parse(url);
  if (!parsed) throw refuse("it is not a URL");
  const secure = parsed.protocol === "https:";
  if (!secure && parsed.protocol !== "http:")
    throw refuse(`its scheme must be http: or https:; it is ${parsed.protocol}`);
  if (parsed.username !== "" || parsed.password !== "") throw refuse("it contains a user name or password");
  return {
    url,
    origin: parsed.origin,
    secure,
    hostname: parsed.hostname.replace(/^\[|\]$/g, ""),
    port: parsed.port === "" ? (secure ? 443 : 80) : Number(parsed.port),
    hostHeader: parsed.host,
    target: parsed.pathname + parsed.search,
  };
}
