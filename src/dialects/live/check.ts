import { isObject, type JsonObject, stringAt } from "../../base/json.ts";
import { billables } from "../genai/billables.ts";
import { normaliseGenaiRequest } from "../genai/normalise.ts";
import type { LiveFrameCheck } from "../live-dialect.ts";
import { parseFrame } from "../session/parse-frame.ts";
import { camelKeys } from "./keys.ts";
import { bareModel } from "./settings.ts";

/** The setup names the model. It and an update can name tools that the host runs. */
export function check(frame: string): LiveFrameCheck | undefined {
  const message = camelKeys(parseFrame(frame) ?? {});
  if (isObject(message["setup"])) {
    const setup = camelKeys(message["setup"]);
    const model = stringAt(setup, "model");
    return { ...(model === undefined ? {} : { model: bareModel(model) }), billables: costs(setup["tools"], "setup") };
  }
  if (!isObject(message["contextUpdate"])) return undefined;
  const { tools } = camelKeys(message["contextUpdate"]);
  return { billables: costs(camelKeys(tools)["tools"], "contextUpdate.tools") };
}

function costs(tools: unknown, at: string): LiveFrameCheck["billables"] {
  if (tools === undefined || tools === null) return [];
  const body = normaliseGenaiRequest({ contents: [], tools }) as JsonObject;
  return billables(body).map((one) => ({ ...one, path: `${at}.${one.path}` }));
}
