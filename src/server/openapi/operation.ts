import type { TSchema } from "typebox";
import type { DialectName } from "../../canon/dialect-name.ts";
import type { ComponentSchemas } from "./component-schemas.ts";
import { failureStatuses } from "./errors.ts";

/** One thing that can be asked of the gateway, wherever it stands. */
export interface Operation {
  method: "get" | "post";
  id: string;
  summary: string;
  /** The protocol in which it fails. */
  dialect: DialectName;
  /** Needs no key. */
  open?: boolean;
  parameters?: readonly string[];
  request?: TSchema;
  answers: readonly Answer[];
}

export interface Answer {
  schema: TSchema;
  description: string;
  contentType: "application/json" | "text/event-stream";
  status?: number;
}

export const json = (schema: TSchema, description: string): Answer => ({
  schema,
  description,
  contentType: "application/json",
});

export const events = (schema: TSchema, description: string): Answer => ({
  schema,
  description,
  contentType: "text/event-stream",
});

/** Any of the three headers works on every protocol (decisions §2). */
const ANY_KEY = [{ bearer: [] }, { "x-api-key": [] }, { "x-goog-api-key": [] }];

const ANSWER_HEADERS = Object.fromEntries(
  ["x-trivium-request-id", "x-trivium-receipt", "x-trivium-dropped"].map((name) => [
    name,
    { $ref: `#/components/headers/${name}` },
  ]),
);

/** `suffix` tells the same operation at several addresses apart. */
export function operationObject(operation: Operation, suffix: string, schemas: ComponentSchemas): object {
  const { id, summary, dialect, open = false, parameters = [], request } = operation;
  return {
    operationId: `${id}${suffix}`,
    summary,
    tags: [dialect],
    security: open ? [] : ANY_KEY,
    ...(parameters.length === 0
      ? {}
      : { parameters: parameters.map((name) => ({ $ref: `#/components/parameters/${name}` })) }),
    ...(request === undefined
      ? {}
      : { requestBody: { required: true, content: { "application/json": { schema: schemas.refer(request) } } } }),
    responses: { ...successes(operation, schemas), ...(open ? {} : failures(dialect)) },
  };
}

function successes({ answers, open = false }: Operation, schemas: ComponentSchemas): object {
  const responses: Record<string, { description: string; headers?: object; content: Record<string, object> }> = {};
  for (const { schema, description, contentType, status = 200 } of answers) {
    const response = responses[status];
    const content = { ...response?.content, [contentType]: { schema: schemas.refer(schema) } };
    responses[status] = {
      description: response === undefined ? description : `${response.description} ${description}`,
      ...(open ? {} : { headers: ANSWER_HEADERS }),
      content,
    };
  }
  return responses;
}

const responseName = (dialect: DialectName, status: string): string => `${dialect}-${status}`;

function failures(dialect: DialectName): object {
  const entries = [...failureStatuses(dialect).keys()].map((status) => [
    status,
    { $ref: `#/components/responses/${responseName(dialect, status)}` },
  ]);
  return Object.fromEntries(entries);
}

/** The failures of a protocol as components, one for each status. */
export function failureResponses(dialect: DialectName, shape: TSchema, schemas: ComponentSchemas): object {
  const content = { "application/json": { schema: schemas.refer(shape) } };
  const entries = [...failureStatuses(dialect)].map(([status, meaning]) => [
    responseName(dialect, status),
    { description: meaning, content },
  ]);
  return Object.fromEntries(entries);
}
