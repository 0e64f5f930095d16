import { stringifyInOrder } from "../../wire/ordered-json.ts";

/** A request like the client's, with another body: an object, or its JSON text. */
export function requestWith({ url, headers: given, signal }: Request, body: object | string): Request {
  const headers = new Headers(given);
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) headers.delete(name);
  headers.set("content-type", "application/json");
  const text = typeof body === "string" ? body : stringifyInOrder(body);
  return new Request(url, { method: "POST", headers, signal, body: text });
}
