import { arrayAt, type JsonObject, stringAt } from "../../base/json.ts";
import type { NativeHost } from "../dialect.ts";
import type { ChatQuirks } from "./quirks.ts";
import { readOwnFormat } from "./reasoning-details.ts";

/**
 * Whether the provider puts reasoning into the text, or the history contains a value of another family that this gateway wrapped for the
 * client (H01).
 */
export const needsCanon = (body: JsonObject, host: NativeHost<ChatQuirks>): boolean =>
  host.quirks.alwaysTagged ||
  arrayAt(body, "messages").some((message) =>
    arrayAt(message, "reasoning_details").some((detail) => {
      const format = stringAt(detail, "format");
      return format !== undefined && host.isForeignOrigin(readOwnFormat(format).origin);
    }),
  );
