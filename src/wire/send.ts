import type { Clock } from "../base/clock.ts";
import { readEndpoint } from "./http/endpoint.ts";
import type { Exchange, HttpRequest } from "./http/exchange.ts";
import { type FailureKind, HttpFailure } from "./http/failure.ts";
import { FetchExchange } from "./http/fetch-exchange.ts";
import { ConnectionPool } from "./http/pool.ts";
import { usesProxy } from "./http/proxy.ts";
import { SocketExchange } from "./http/socket-exchange.ts";

/** Sends a request. Redirects are returned, never followed. Throws if the request cannot be sent as given. */
export type Send = (request: HttpRequest) => Exchange;

const { http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY, no_proxy, NO_PROXY } = process.env;
const environment = { http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY, no_proxy, NO_PROXY };
const anyProxy = Boolean(http_proxy || HTTP_PROXY || https_proxy || HTTPS_PROXY);

/** Sends over pooled connections, or through a proxy if the environment names one. */
export function createSend(clock: Clock): Send {
  const pool = new ConnectionPool(clock);
  return (request) => {
    const endpoint = readEndpoint(request.url);
    return anyProxy && usesProxy(endpoint, environment)
      ? new FetchExchange(request)
      : new SocketExchange(pool, endpoint, request);
  };
}

/** Whether the host was never reached or the connection broke. */
export const sendFailure = (thrown: unknown): FailureKind => (thrown instanceof HttpFailure ? thrown.kind : "broken");
