/** A model as shown in the lists of every dialect (contract 2.9). Unknown values are absent here, and shown as 0 or the Unix epoch. */
export interface ListedModel {
  id: string;
  publisher: string;
  /** Mentions it if the model is retiring. */
  displayName: string;
  description: string;
  /** A day, such as 2026-01-02. */
  created?: string;
  inputModalities: readonly string[];
  outputModalities: readonly string[];
  reasoning: boolean;
  contextLength?: number;
  maxOutputTokens?: number;
  /** The day on which it leaves the list. */
  retiresOn?: string;
  pricings: object;
}

/** A client's request for a list. */
export interface ListRequest {
  /** `contract`: the contract's own format; `dropin`: the vendor's. */
  door: "contract" | "dropin";
  query: URLSearchParams;
}

/** The formats of a dialect's model lists. */
export interface ModelLists {
  /** Throws if the query requests an invalid page. */
  list(models: readonly ListedModel[], request: ListRequest): object;
  entry(model: ListedModel, door: ListRequest["door"]): object;
}
