import type { TSchema } from "typebox";
import { Type } from "../../base/type.ts";
import type { DialectName } from "../../canon/dialect-name.ts";
import { ERROR_TABLE, type ErrorKind, GatewayError } from "../../canon/error.ts";
import { DIALECTS } from "../../dialects/index.ts";
import { nullable, openObject } from "../../dialects/reading/schema-builders.ts";

const ChatError = Type.Object(
  {
    error: Type.Object({
      message: Type.String(),
      type: Type.String(),
      param: nullable(Type.String({ description: "JSON path of the invalid field." })),
      code: nullable(Type.String()),
    }),
  },
  { title: "ChatError" },
);

const GenaiError = Type.Object(
  {
    error: Type.Object({
      code: Type.Integer(),
      message: Type.String(),
      status: Type.String(),
      details: Type.Optional(Type.Array(openObject())),
    }),
  },
  { title: "GenaiError" },
);

/** A failed call in each protocol's own form (choices 4). */
export const ERROR_SHAPES: Readonly<Record<DialectName, TSchema>> = {
  chat: ChatError,
  responses: ChatError,
  messages: Type.Object(
    {
      type: Type.Literal("error"),
      error: Type.Object({ type: Type.String(), message: Type.String() }),
      request_id: Type.String(),
    },
    { title: "MessagesError" },
  ),
  genai: GenaiError,
  interactions: GenaiError,
};

/** The statuses that calls of a protocol can fail with, and what each means, from the table of errors. */
export function failureStatuses(dialect: DialectName): Map<string, string> {
  const meanings = new Map<string, string[]>();
  for (const kind of Object.keys(ERROR_TABLE) as ErrorKind[]) {
    const status = String(DIALECTS[dialect].errors.encode(new GatewayError(kind, ""), "").status);
    meanings.set(status, [...(meanings.get(status) ?? []), kind.replaceAll("_", " ")]);
  }
  const ordered = [...meanings].sort(([one], [other]) => Number(one) - Number(other));
  return new Map(ordered.map(([status, kinds]) => [status, `${kinds.join("; ")}.`]));
}
