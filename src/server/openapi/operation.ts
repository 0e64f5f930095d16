import type { TSchema } from "typebox";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { DialectName } from "../../canon/dialect-name.ts";
import type { Method } from "../route-table.ts";
import type { ComponentSchemas } from "./component-schemas.ts";
import { failureStatuses } from "./errors.ts";
import { FAILURE_HEADERS, HEADERS, RATE_HEADERS } from "./parameters.ts";

/** One operation of the gateway, at any path. */
export interface ApiOperation {
  method: Method;
  id: string;
  summary: string;
  /** The protocol of its errors. */
  dialect: DialectName;
  /**
   * `open` needs no key; `signed` needs one unless the URL is signed; `listed` needs one unless model lists are public. If absent, a
   * key is needed.
   */
  access?: "open" | "signed" | "listed";
  parameters?: readonly string[];
  request?: TSchema;
  /** The same request as a multipart form; its only form if `request` is absent. */
  form?: TSchema;
  answers: readonly Answer[];
  /** Set if only some of the protocol's failures can happen. */
  failures?: readonly string[];
}

export interface Answer {
  description: string;
  /** Default: 200. */
  status?: number;
  /** Absent if the response has no body. */
  contentType?: string;
  /** Absent if the body is a file. */
  schema?: TSchema;
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

export const file = (status: number, description: string): Answer => ({ status, description, contentType: "*/*" });

/** Any of the three headers works on every protocol (choices 2). */
const ANY_KEY = [{ bearer: [] }, { "x-api-key": [] }, { "x-goog-api-key": [] }];

const refer = (...sections: object[]) =>
  Object.fromEntries(
    sections.flatMap((section) => Object.keys(section)).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
const ANSWER_HEADERS = refer(HEADERS, RATE_HEADERS);
/** Headers about the call are present once it was admitted. */
const REFUSAL_HEADERS = refer(HEADERS, RATE_HEADERS, FAILURE_HEADERS);

/** `suffix` distinguishes the same operation at several paths. */
export function operationObject(operation: ApiOperation, suffix: string, schemas: ComponentSchemas): object {
  const { id, summary, dialect, access, parameters = [] } = operation;
  return {
    operationId: `${id}${suffix}`,
    summary,
    tags: [dialect],
    security: access === "open" ? [] : access === undefined ? ANY_KEY : [{}, ...ANY_KEY],
    ...(parameters.length === 0
      ? {}
      : { parameters: parameters.map((name) => ({ $ref: `#/components/parameters/${name}` })) }),
    ...requestBody(operation, schemas),
    responses: { ...successes(operation, schemas), ...(access === "open" ? {} : failures(operation)) },
  };
}

function requestBody({ request, form }: ApiOperation, schemas: ComponentSchemas): object {
  if (request === undefined && form === undefined) return {};
  const content = withoutAbsent({
    "multipart/form-data": form && { schema: schemas.refer(form) },
    "application/json": request && { schema: schemas.refer(request) },
  });
  return { requestBody: { required: true, content } };
}

function successes({ answers, access }: ApiOperation, schemas: ComponentSchemas): object {
  const responses: Record<string, { description: string; headers?: object; content?: Record<string, object> }> = {};
  for (const { schema, description, contentType, status = 200 } of answers) {
    const response = responses[status];
    const media = withoutAbsent({ schema: schema && schemas.refer(schema) });
    responses[status] = withoutAbsent({
      description: response === undefined ? description : `${response.description} ${description}`,
      headers: access === undefined ? ANSWER_HEADERS : undefined,
      content: contentType === undefined ? undefined : { ...response?.content, [contentType]: media },
    });
  }
  return responses;
}

const responseName = (dialect: DialectName, status: string): string => `${dialect}-${status}`;

function failures({ dialect, failures: some }: ApiOperation): object {
  const statuses = some ?? [...failureStatuses(dialect).keys()];
  const entries = statuses.map((status) => [
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
    { description: meaning, headers: REFUSAL_HEADERS, content },
  ]);
  return Object.fromEntries(entries);
}
