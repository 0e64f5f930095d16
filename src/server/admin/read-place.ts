import { wrongField } from "../wrong-field.ts";

/** The `next` value of a page that is ordered by time and id. */
export function readPlace(after: string): { createdAtMs: number; id: string } {
  const [, ms = "", id = ""] = /^(\d{1,15})\.(.+)$/.exec(after) ?? [];
  if (id === "") throw wrongField("after", "is not the `next` value of a page");
  return { createdAtMs: Number(ms), id };
}
