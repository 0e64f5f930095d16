import { DIALECT_NAMES } from "../canon/dialect-name.ts";
import type { DocumentedPath } from "../dialects/endpoint.ts";
import { BUILT_IN_DIALECTS } from "../dialects/index.ts";
import type { ClientEndpoint } from "./endpoints/client-endpoint.ts";
import { ComponentSchemas } from "./openapi/component-schemas.ts";
import { ERROR_SHAPES } from "./openapi/errors.ts";
import { type ApiOperation, failureResponses, operationObject } from "./openapi/operation.ts";
import { FAILURE_HEADERS, HEADERS, PARAMETERS, RATE_HEADERS, SECURITY_SCHEMES } from "./openapi/parameters.ts";
import { TEXT_OPERATIONS } from "./openapi/text-operations.ts";

interface DocumentOptions {
  publicUrl: string;
  version: string;
  /** In addition to those of the dialects. */
  endpoints: readonly ClientEndpoint[];
}

/** The gateway's endpoints as an OpenAPI 3.1 document, generated from the schemas that validate requests. */
export function openApiDocument({ publicUrl, version, endpoints }: DocumentOptions): object {
  return {
    openapi: "3.1.0",
    info: {
      title: "Trivium",
      version,
      description:
        "One API key, every provider, five wire protocols. A model is named `<provider>/<model_name>`; not every model supports every parameter.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: publicUrl }],
    tags: [
      { name: "chat", description: "The chat-completions protocol." },
      { name: "responses", description: "The responses protocol." },
      { name: "messages", description: "The messages protocol." },
      { name: "genai", description: "The generative-content protocol." },
    ],
    ...body(endpoints),
  };
}

interface Body {
  paths: object;
  components: object;
}

let built: { endpoints: readonly ClientEndpoint[]; body: Body } | undefined;

/** Built once: the document is served without a key, so serving it must be cheap. */
function body(endpoints: readonly ClientEndpoint[]): Body {
  if (built?.endpoints !== endpoints) built = { endpoints, body: bodyOf(endpoints) };
  return built.body;
}

function bodyOf(endpoints: readonly ClientEndpoint[]): Body {
  const schemas = new ComponentSchemas();
  const paths = pathItems(endpoints, schemas);
  const responses = DIALECT_NAMES.map((dialect) => failureResponses(dialect, ERROR_SHAPES[dialect], schemas));
  return {
    paths,
    components: {
      schemas: schemas.toJSON(),
      responses: Object.assign({}, ...responses),
      parameters: PARAMETERS,
      headers: { ...HEADERS, ...RATE_HEADERS, ...FAILURE_HEADERS },
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

function pathItems(endpoints: readonly ClientEndpoint[], schemas: ComponentSchemas): Record<string, object> {
  const items: Record<string, Record<string, object>> = {};
  for (const [{ path, suffix }, operation] of documented(endpoints)) {
    items[path] = { ...items[path], [operation.method.toLowerCase()]: operationObject(operation, suffix, schemas) };
  }
  return items;
}

/** The endpoints of the dialects, then the others. */
function* documented(endpoints: readonly ClientEndpoint[]): Generator<[DocumentedPath, ApiOperation]> {
  for (const { http } of BUILT_IN_DIALECTS.clients) {
    for (const at of http.endpoints.flatMap(({ documented: paths = [] }) => paths)) {
      const operation = TEXT_OPERATIONS[at.operation];
      if (operation === undefined) throw new Error(`operation ${at.operation} is not described`);
      yield [at, operation];
    }
  }
  for (const endpoint of endpoints) {
    for (const at of endpoint.paths.flatMap(({ documented: paths }) => paths)) yield [at, endpoint];
  }
}
