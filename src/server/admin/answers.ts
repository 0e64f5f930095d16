import Type, { type TSchema } from "typebox";
import { nullable } from "../../dialects/schema-builders.ts";

/** A page of a list. */
export const pageAnswer = (title: string, item: TSchema, more: Record<string, TSchema> = {}) =>
  Type.Object(
    {
      data: Type.Array(item),
      next: nullable(Type.String({ description: "For `after` of the next page; null at the end." })),
      ...more,
    },
    { title },
  );

export const dataAnswer = (title: string, data: TSchema) => Type.Object({ data }, { title });

export const Moment = Type.String({ description: "A moment in UTC, as ISO 8601 writes it." });
