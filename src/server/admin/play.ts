import { GatewayError } from "../../canon/error.ts";
import { wrongField } from "../wrong-field.ts";
import { refuseForeignPages } from "./authorize.ts";
import { type AdminCall, type AdminParts, adminRoute } from "./define-route.ts";
import type { QueryField } from "./query-fields.ts";

/** A path of the clients' listener, with its query. */
const publicPath: QueryField<string> = {
  read: (text, name) => {
    // It is resolved against that listener's own address: anything that could name another host is rejected, and so
    // is a path that changes when it is resolved.
    if (/^\/(?![/\\])[\w\-./:@%?=&~+]{0,1000}$/.test(text) && isResolved(text)) return text;
    throw wrongField(name, "must be a path such as /v1/chat/completions");
  },
  schema: { type: "string", pattern: "^/" },
  about: "The client path to call, such as /v1/chat/completions.",
};

const isResolved = (text: string): boolean => {
  const { pathname, search } = new URL(text, "http://gateway.test");
  return pathname + search === text || `${pathname}?` === text;
};

/** The headers that are passed on: none that identify the operator. */
const PASSED = [
  "content-type",
  "content-length",
  "accept",
  "range",
  "x-trivium-strict",
  "x-trivium-tags",
  "anthropic-version",
];

/** Of a handshake, in addition. */
const PASSED_WITH_UPGRADES = ["upgrade", "connection", "sec-websocket-protocol"];

const isUpgrade = ({ headers }: Request): boolean => headers.get("upgrade")?.toLowerCase() === "websocket";

const play = async (
  { request, query, connection }: AdminCall<{ path: string | undefined }, unknown>,
  { listener, clientsUrl }: AdminParts,
) => {
  if (query.path === undefined) throw wrongField("path", "is missing");
  const url = new URL(query.path, clientsUrl());
  const headers = new Headers({ host: url.host });
  for (const name of isUpgrade(request) ? [...PASSED, ...PASSED_WITH_UPGRADES] : PASSED) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  const key = request.headers.get("x-trivium-play-key");
  if (key !== null) headers.set("authorization", `Bearer ${key}`);
  const { method, signal } = request;
  const body = method === "GET" ? null : request.body;
  return listener(new Request(url.href, { method, headers, body, signal }), connection);
};

const ANSWERS = [{ contentType: "*/*", description: "The response that a client would get." }];

export const playRoute = adminRoute({
  method: "POST",
  path: "/api/play",
  id: "play",
  summary: "Send a request to the clients' listener with the API key in x-trivium-play-key.",
  roles: ["admin"],
  query: { path: publicPath },
  answers: ANSWERS,
  handle: (call, _context, parts) => play(call, parts),
});

export const playFileRoute = adminRoute({
  method: "GET",
  path: "/api/play",
  id: "playFile",
  summary: "Fetch a file that a call has generated, by its signed path, or open a spoken conversation.",
  roles: ["admin"],
  query: { path: publicPath },
  answers: ANSWERS,
  handle: (call, _context, parts) => {
    const { request, query } = call;
    if (query.path?.startsWith("/files/")) return play(call, parts);
    if (query.path?.startsWith("/v1/realtime?") && isUpgrade(request)) {
      // A cookie goes with a handshake from any page of the same site.
      refuseForeignPages(request.headers);
      return play(call, parts);
    }
    const message = "Only files can be fetched here: use a path below /files/. A WebSocket opens /v1/realtime.";
    throw new GatewayError("invalid_request", message, { path: "path" });
  },
});
