import { arrayAt, type JsonObject, stringAt } from "../../base/json.ts";
import { unwrapOpaqueBase64 } from "../../canon/opaque.ts";

/** Whether the history contains a value of another family, which this gateway wrapped for the client to send back. */
export const needsCanon = (body: JsonObject): boolean =>
  arrayAt(body, "input").some((step) => unwrapOpaqueBase64(stringAt(step, "signature") ?? "") !== undefined);
