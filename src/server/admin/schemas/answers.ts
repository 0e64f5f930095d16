import type { TSchema } from "typebox";
import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";

const next = nullable(Type.String({ description: "Pass it as `after` for the next page; null at the end." }));

/** A page of a list. */
export const pageAnswer = <Item extends TSchema>(title: string, item: Item, more: Record<string, TSchema> = {}) =>
  Type.Object({ data: Type.Array(item), next, ...more }, { title });

export const dataAnswer = <Data extends TSchema>(title: string, data: Data) => Type.Object({ data }, { title });

export const Timestamp = Type.String({ description: "A time in UTC, in ISO 8601." });
