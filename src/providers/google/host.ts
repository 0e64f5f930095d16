import type { AdapterContext } from "../../media/adapter.ts";

/** The Gemini API and Vertex AI serve the same models by the same methods, but not with the same fields. */
export interface GoogleHost {
  name: "gemini" | "vertex";
  /** The path of the models, such as `/v1beta/models`. */
  models: (settings: AdapterContext["settings"]) => string;
}

export const verbPath = (host: GoogleHost, { model, settings }: AdapterContext, verb: string): string =>
  `${host.models(settings)}/${encodeURIComponent(model)}:${verb}`;
