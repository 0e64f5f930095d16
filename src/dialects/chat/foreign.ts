import { arrayAt, type JsonObject, stringAt } from "../../base/json.ts";
import type { HostTakes } from "../dialect.ts";
import { readFromClient } from "./reasoning-details.ts";

/** Whether the history holds a value of another family, which this gateway gave the client to send back (H01). */
export const carriesForeign = (body: JsonObject, host: HostTakes): boolean =>
  arrayAt(body, "messages").some((message) =>
    arrayAt(message, "reasoning_details").some((detail) => {
      const format = stringAt(detail, "format");
      return format !== undefined && host.isForeignOrigin(readFromClient(format, undefined).origin);
    }),
  );
