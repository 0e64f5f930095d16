import type { JsonObject } from "../../base/json.ts";
import type { AdapterContext, MediaRequest } from "../../media/adapter.ts";

const VERSION = "2022-12-29";
const REGION = "ap-guangzhou";

/** Zero is not a seed. */
export const SEEDS = { min: 1, max: 4_294_967_295 };

/** Every action is a POST to the same URL; a header names the action. */
export function action(name: string, json: JsonObject, { settings }: AdapterContext): MediaRequest {
  return {
    method: "POST",
    url: "/",
    headers: {
      "content-type": "application/json",
      "x-tc-action": name,
      "x-tc-version": VERSION,
      "x-tc-region": settings.region ?? REGION,
    },
    body: { json },
  };
}
