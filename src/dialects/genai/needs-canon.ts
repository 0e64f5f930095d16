import { arrayAt, type JsonObject, stringAt } from "../../base/json.ts";
import { unwrapOpaqueBase64 } from "../../canon/opaque.ts";

/** Whether the history contains a value of another family, which this gateway wrapped for the client to send back. */
export function needsCanon(body: JsonObject): boolean {
  return arrayAt(body, "contents").some((content) =>
    arrayAt(content, "parts").some(
      (part) => unwrapOpaqueBase64(stringAt(part, "thoughtSignature") ?? "") !== undefined,
    ),
  );
}
