import type { Dialect } from "../../dialects/dialect.ts";
import { KeptHeaders } from "./kept-headers.ts";
import { wholeBody } from "./whole-body.ts";

/** Marks responses that have these headers. Checking a flag is cheaper than reading the headers of a response. */
const identified = Symbol("identified");

interface MarkedResponse extends Response {
  [identified]?: true;
}

const kept = new KeptHeaders();

export function identifiedResponse(body: string | Buffer | ReadableStream, headers: Record<string, string>): Response {
  const response: MarkedResponse = new Response(body instanceof ReadableStream ? body : wholeBody(body), {
    headers: kept.of(headers),
  });
  response[identified] = true;
  return response;
}

export const isIdentified = (response: MarkedResponse): boolean => response[identified] === true;

const REQUEST_ID = "x-trivium-request-id";

/** The headers of every response: the request's id, also under the name that the dialect's clients look for. */
export function identityHeaders(dialect: Dialect, requestId: string): Record<string, string> {
  const headers: Record<string, string> = { [REQUEST_ID]: requestId };
  if (dialect.http.requestIdHeader) headers[dialect.http.requestIdHeader] = requestId;
  return headers;
}
