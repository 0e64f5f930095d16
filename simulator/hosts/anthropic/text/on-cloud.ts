import { isObject, type Json } from "../../../json.ts";
import type { IncomingCall } from "../../../text/adapter.ts";
import { invalid } from "./errors.ts";

/** The same API at a cloud: the model is in the URL, and the body differs in a few members. */
export interface Cloud {
  version: string;
  /** Members of the body that it refuses. */
  refused: readonly string[];
  schemas: boolean;
}

function refuseUrls(value: Json, path: string): void {
  for (const [at, item] of Array.isArray(value) ? value.entries() : []) refuseUrls(item, `${path}.${at}`);
  if (!isObject(value)) return;
  const { source } = value;
  if (isObject(source) && source.type === "url") throw invalid(`${path}.source`, "URL sources are not supported");
  for (const [key, member] of Object.entries(value)) refuseUrls(member, `${path}.${key}`);
}

/** The call as the API itself would have got it; `model` without the cloud's additions to its name. */
export function callOnCloud(call: IncomingCall, cloud: Cloud, model: string, stream: boolean): IncomingCall {
  if (!isObject(call.body)) throw invalid("", "Input should be a valid dictionary");
  const { anthropic_version: version, anthropic_beta: betas, ...body } = call.body;
  if (version !== cloud.version) throw invalid("anthropic_version", `"${String(version)}" is not a valid version`);
  for (const name of cloud.refused) {
    if (name in call.body) throw invalid("", `extraneous key [${name}] is not permitted`);
  }
  if (!cloud.schemas && isObject(body.output_config) && body.output_config.format !== undefined) {
    throw invalid("output_config.format", "Extra inputs are not permitted");
  }
  refuseUrls(body.messages ?? null, "messages");
  const headers = new Headers(call.headers);
  if (Array.isArray(betas)) headers.set("anthropic-beta", betas.join(","));
  return { ...call, headers, modelName: model, body: { ...body, model, stream } };
}
