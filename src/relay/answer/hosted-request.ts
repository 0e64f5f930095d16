import { stringifyInOrder } from "../../wire/ordered-json.ts";

/** A request like the client's, with another body. */
export function requestWith({ url, headers: given, signal }: Request, body: object): Request {
  const headers = new Headers(given);
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) headers.delete(name);
  headers.set("content-type", "application/json");
  return new Request(url, { method: "POST", headers, signal, body: stringifyInOrder(body) });
}
