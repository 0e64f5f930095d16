import type { Clock } from "../base/clock.ts";
import { readAddress } from "./http/address.ts";
import type { Exchange } from "./http/exchange.ts";
import { type FailureKind, HttpFailure } from "./http/failure.ts";
import { FetchExchange } from "./http/fetch-exchange.ts";
import { ConnectionPool } from "./http/pool.ts";
import { usesProxy } from "./http/proxy.ts";
import { SocketExchange } from "./http/socket-exchange.ts";

/**
 * Sends a body. A redirect is an answer like any other: never followed. Throws where the request cannot be sent as it is.
 */
export type Post = (url: string, headers: Readonly<Record<string, string>>, body: string | Uint8Array) => Exchange;

const { http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY, no_proxy, NO_PROXY } = process.env;
const environment = { http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY, no_proxy, NO_PROXY };
const anyProxy = Boolean(http_proxy || HTTP_PROXY || https_proxy || HTTPS_PROXY);

/** Over sockets, whose connections are kept for later requests; through a proxy where the environment names one. */
export function createPost(clock: Clock): Post {
  const pool = new ConnectionPool(clock);
  return (url, headers, body) => {
    const address = readAddress(url);
    return anyProxy && usesProxy(address, environment)
      ? new FetchExchange(url, headers, body)
      : new SocketExchange(pool, address, headers, body);
  };
}

/** Whether the host was never reached, or the connection broke. */
export const postFailure = (thrown: unknown): FailureKind => (thrown instanceof HttpFailure ? thrown.kind : "broken");
