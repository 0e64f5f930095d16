import { isDeepStrictEqual } from "node:util";
import type { Fields } from "../../canon/fields.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { noteOtherModels, ROUTING_FIELDS } from "../../dialects/reading/routing-fields.ts";
import type { ImageCall } from "../image-call.ts";

/** The fields that were not read, for providers that support them. Those in `parameters` take precedence over the root. */
export function unreadFields(
  root: Fields,
  instance: Fields,
  parameters: Fields,
  notes: FieldNote[],
): Pick<ImageCall, "extras" | "extraPaths"> {
  const atRoot = root.rest() ?? {};
  noteOtherModels(atRoot, notes);
  const own = Object.entries(atRoot).filter(([key]) => !(ROUTING_FIELDS as readonly string[]).includes(key));
  const extras = new Map<string, unknown>();
  const extraPaths = new Map<string, string>();
  const take = (prefix: string, fields: readonly [string, unknown][]) => {
    for (const [name, value] of fields) {
      const path = prefix + name;
      const taken = extraPaths.get(name);
      if (taken === undefined) {
        extras.set(name, value);
        extraPaths.set(name, path);
      } else if (!isDeepStrictEqual(value, extras.get(name))) {
        notes.push({ path, action: "dropped", reason: `${taken} takes precedence` });
      }
    }
  };
  take("parameters.", Object.entries(parameters.rest() ?? {}));
  take("", own);
  take("instances[0].", Object.entries(instance.rest() ?? {}));
  return { extras: Object.fromEntries(extras), ...(extraPaths.size === 0 ? {} : { extraPaths }) };
}
