import { bearerOf } from "../../credentials.ts";
import type { Exchange } from "../../exchange.ts";
import type { MediaContext } from "../../media/media-host.ts";
import { missingKey, wrongKey } from "./text/errors.ts";

/** The key behind the word Bearer, or where a host has a header of its own for it, that one. */
export function authenticate({ headers }: Exchange, context: MediaContext, keyHeader?: string): string {
  const key = keyHeader === undefined ? bearerOf(headers) : headers.get(keyHeader);
  if (key === undefined || key === null || key === "") throw missingKey();
  if (!context.acceptsKey(key)) throw wrongKey(key);
  return key;
}
