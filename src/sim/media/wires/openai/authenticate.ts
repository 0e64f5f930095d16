import { bearerOf } from "../../../credentials.ts";
import type { Exchange } from "../../../exchange.ts";
import { missingKey, wrongKey } from "../../../wires/openai/errors.ts";
import type { MediaStudio } from "../../host.ts";

export function authenticate(exchange: Exchange, studio: MediaStudio): string {
  const key = bearerOf(exchange.headers);
  if (key === undefined || key === "") throw missingKey();
  if (!studio.acceptsKey(key)) throw wrongKey(key);
  return key;
}
