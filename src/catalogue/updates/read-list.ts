import { isObject, type JsonObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { readLitellm } from "./read-litellm.ts";
import { readModelsDev } from "./read-models-dev.ts";
import type { SourceList } from "./source-list.ts";

/** Reads a list as models.dev or LiteLLM publish it. `from` names it in the error. */
export function readList(document: JsonObject, from: string): SourceList {
  const values = Object.values(document).filter(isObject);
  if (values.some((value) => typeof value["litellm_provider"] === "string")) return readLitellm(document);
  if (values.some((value) => isObject(value["models"]))) return readModelsDev(document);
  throw unknownFormat(from);
}

export const unknownFormat = (from: string) =>
  new GatewayError("invalid_request", `${from} has neither the format of models.dev nor that of LiteLLM.`);
