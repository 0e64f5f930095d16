import { arrayAt, type JsonObject, stringAt } from "../../base/json.ts";
import type { NativeHost } from "../dialect.ts";
import type { ChatQuirks } from "./quirks.ts";
import { readFromClient } from "./reasoning-details.ts";

/**
 * The host hides its reasoning in the text, or the history holds a value of another family, which this gateway gave the
 * client to send back (H01).
 */
export const needsCanon = (body: JsonObject, host: NativeHost<ChatQuirks>): boolean =>
  host.quirks.alwaysTagged ||
  arrayAt(body, "messages").some((message) =>
    arrayAt(message, "reasoning_details").some((detail) => {
      const format = stringAt(detail, "format");
      return format !== undefined && host.isForeignOrigin(readFromClient(format, undefined).origin);
    }),
  );
