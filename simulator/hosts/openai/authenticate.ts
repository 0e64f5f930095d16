import { bearerOf } from "../../credentials.ts";
import type { Exchange } from "../../exchange.ts";
import type { MediaContext } from "../../media/media-host.ts";
import { missingKey, wrongKey } from "./text/errors.ts";

/** The bearer token, or the key in the host's own header where it has one. */
export function authenticate({ headers }: Exchange, context: MediaContext, keyHeader?: string): string {
  const key = keyHeader === undefined ? bearerOf(headers) : headers.get(keyHeader);
  if (key === undefined || key === null || key === "") throw missingKey();
  if (!context.acceptsKey(key)) throw wrongKey(key);
  return key;
}
