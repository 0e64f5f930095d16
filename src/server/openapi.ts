import { DIALECT_NAMES } from "../canon/dialect-name.ts";
import { ComponentSchemas } from "./openapi/component-schemas.ts";
import { ERROR_SHAPES } from "./openapi/errors.ts";
import { failureResponses } from "./openapi/operation.ts";
import { FAILURE_HEADERS, HEADERS, PARAMETERS, RATE_HEADERS, SECURITY_SCHEMES } from "./openapi/parameters.ts";
import { pathItems } from "./openapi/paths.ts";

/** The gateway's endpoints as an OpenAPI 3.1 document, generated from the schemas that validate requests. */
export function openApiDocument({ publicUrl, version }: { publicUrl: string; version: string }): object {
  return {
    openapi: "3.1.0",
    info: {
      title: "Trivium",
      version,
      description:
        "One API key, every provider, four wire protocols. A model is named `<provider>/<model_name>`; each supports a part of the parameters.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: publicUrl }],
    tags: [
      { name: "chat", description: "The chat-completions protocol." },
      { name: "responses", description: "The responses protocol." },
      { name: "messages", description: "The messages protocol." },
      { name: "genai", description: "The generative-content protocol." },
    ],
    ...body(),
  };
}

let made: { paths: object; components: object } | undefined;

/** Built once: the document is served without a key, so serving it must be cheap. */
function body() {
  if (made !== undefined) return made;
  const schemas = new ComponentSchemas();
  const paths = pathItems(schemas);
  const responses = DIALECT_NAMES.map((dialect) => failureResponses(dialect, ERROR_SHAPES[dialect], schemas));
  made = {
    paths,
    components: {
      schemas: schemas.toJSON(),
      responses: Object.assign({}, ...responses),
      parameters: PARAMETERS,
      headers: { ...HEADERS, ...RATE_HEADERS, ...FAILURE_HEADERS },
      securitySchemes: SECURITY_SCHEMES,
    },
  };
  return made;
}
