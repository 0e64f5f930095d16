import type { Exchange } from "../../exchange.ts";
import type { Json } from "../../json.ts";
import { Fields } from "../../media/fields.ts";
import { isJson } from "../../media/is-json.ts";
import { names } from "../../names.ts";
import { GOOGLE_REFUSALS } from "./refusals.ts";
import { type GoogleHost, invalid } from "./text/errors.ts";
import { withCamelNames } from "./text/proto-json.ts";

const ENVELOPE = {
  gemini: names("instances parameters webhookConfig"),
  vertex: names("instances parameters labels"),
} as const;

export function jsonBody(exchange: Exchange): Json {
  if (!isJson(exchange.headers)) throw invalid("The content type of the request must be application/json.");
  if (exchange.body === undefined) throw invalid("Invalid JSON payload received. The body is not valid JSON.");
  return withCamelNames(exchange.body);
}

/** The one instance and the parameters of a prediction. */
export function readEnvelope(
  exchange: Exchange,
  host: GoogleHost,
  known: { instance: ReadonlySet<string>; parameters: ReadonlySet<string> },
): { instance: Fields; parameters: Fields } {
  const body = new Fields(jsonBody(exchange), "", ENVELOPE[host], GOOGLE_REFUSALS);
  const instances = body.list("instances");
  if (instances.length !== 1) throw invalid(`instances must hold exactly one instance, not ${instances.length}.`);
  return {
    instance: new Fields(instances[0], "instances[0]", known.instance, GOOGLE_REFUSALS),
    parameters: new Fields(body.value("parameters") ?? {}, "parameters", known.parameters, GOOGLE_REFUSALS),
  };
}

/** A choice whose case does not matter: the SDK writes in capitals what the documentation does not. */
export function looseChoice(fields: Fields, name: string, choices: readonly string[]): string | undefined {
  const value = fields.text(name)?.toLowerCase();
  if (value === undefined || choices.includes(value)) return value;
  throw fields.refuse(name, `one of ${choices.join(", ")}`);
}

export function readStorage(parameters: Fields): string | undefined {
  const storageUri = parameters.text("storageUri");
  if (storageUri === undefined || storageUri.startsWith("gs://")) return storageUri?.replace(/\/$/, "");
  throw parameters.refuse("storageUri", "a URL that begins with gs://");
}
