import type { CatalogueModel } from "../api/types.ts";
import { canTalk, onlyTalks, type Protocol, protocolsOf } from "./request.ts";

/** A conversation instead of a request. */
export const VOICE = "voice";

/** How the playground can call a model. */
export const offeredBy = (model: CatalogueModel | undefined): readonly (Protocol | typeof VOICE)[] =>
  model === undefined
    ? []
    : [...(onlyTalks(model) ? [] : protocolsOf(model.kind)), ...(canTalk(model) ? ([VOICE] as const) : [])];
