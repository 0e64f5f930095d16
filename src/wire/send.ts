import type { Clock } from "../base/clock.ts";
import { type FailureKind, HttpFailure } from "./http/failure.ts";
import { FetchExchange } from "./http/fetch-exchange.ts";
import type { HttpExchange, HttpRequest } from "./http/http-exchange.ts";
import { ConnectionPool } from "./http/pool.ts";
import { usesProxy } from "./http/proxy.ts";
import { readRequestUrl } from "./http/request-url.ts";
import { SocketExchange } from "./http/socket-exchange.ts";

/** Sends a request. Redirects are returned, never followed. Throws if the request cannot be sent as given. */
export type Send = (request: HttpRequest) => HttpExchange;

const { http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY, no_proxy, NO_PROXY } = process.env;
const environment = { http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY, no_proxy, NO_PROXY };
const anyProxy = Boolean(http_proxy || HTTP_PROXY || https_proxy || HTTPS_PROXY);

/** Sends over pooled connections, or through a proxy if the environment names one. */
export function createSend(clock: Clock): Send {
  const pool = new ConnectionPool(clock);
  return (request) => {
    const requestUrl = readRequestUrl(request.url);
    return anyProxy && usesProxy(requestUrl, environment)
      ? new FetchExchange(request)
      : new SocketExchange(pool, requestUrl, request);
  };
}

/** Whether the host was never reached or the connection broke. */
export const sendFailure = (thrown: unknown): FailureKind => (thrown instanceof HttpFailure ? thrown.kind : "broken");
