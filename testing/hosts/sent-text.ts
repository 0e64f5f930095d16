import type { HttpRequest } from "../../src/wire/http/http-exchange.ts";

/** The body of an outgoing request as text. One that is streamed is not read. */
export function sentText(body: HttpRequest["body"] = "", encoding: "utf8" | "latin1" = "utf8"): string {
  if (typeof body === "string") return body;
  return body instanceof Uint8Array ? Buffer.from(body).toString(encoding) : "";
}
