/** How browsers, which cannot set headers, send a key. */
const KEY_PROTOCOL = "openai-insecure-api-key.";

interface Subprotocols {
  offered: readonly string[];
  /** The key in them. */
  key: string | undefined;
}

/** The subprotocols that a client offers. */
export function subprotocols(headers: Headers): Subprotocols {
  const offered = (headers.get("sec-websocket-protocol") ?? "").split(",").map((one) => one.trim());
  const key = offered.find((one) => one.startsWith(KEY_PROTOCOL))?.slice(KEY_PROTOCOL.length);
  return { offered, key };
}
