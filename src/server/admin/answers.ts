import Type, { type TSchema } from "typebox";
import { nullable, openObject } from "../../dialects/schema-builders.ts";

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

const Key = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    project: Type.String(),
    hint: Type.String({ description: "The last characters of the key." }),
    models: Type.Array(Type.String()),
    protocols: nullable(Type.Array(Type.String())),
    limits: Type.Record(Type.String(), Type.Number()),
    strict: Type.Boolean(),
    routing: openObject("What differs from the gateway's."),
    expires_at: nullable(Moment),
    created_at: nullable(Moment),
    made_by: nullable(Type.String()),
    revoked_at: nullable(Moment),
  },
  { title: "Key" },
);

export const KeyListAnswer = pageAnswer("KeyList", Key);
export const KeyAnswer = dataAnswer("KeyAnswer", Key);
export const CreatedKeyAnswer = dataAnswer(
  "CreatedKey",
  Type.Object({ id: Type.String(), key: Type.String({ description: "Shown once." }), hint: Type.String() }),
);
