/** A model as the lists of every dialect show it (contract 2.9). What is not known is absent, and shown as 0 or the first day of Unix time. */
export interface ListedModel {
  id: string;
  publisher: string;
  /** Says so where the model is retiring. */
  displayName: string;
  description: string;
  /** A day, such as 2026-01-02. */
  created?: string;
  inputModalities: readonly string[];
  outputModalities: readonly string[];
  reasoning: boolean;
  contextLength?: number;
  maxOutputTokens?: number;
  /** The day on which its publisher stops serving it, and whether that has come. */
  retiresOn?: string;
  retired?: boolean;
  pricings: object;
}

/** What a client asks of a list. */
export interface ListRequest {
  /** `contract`: the contract's own shape; `dropin`: the vendor's. */
  door: "contract" | "dropin";
  query: URLSearchParams;
}

/** The shapes of a dialect's model lists. */
export interface ModelLists {
  /** Throws where the query asks for a page that cannot be. */
  list(models: readonly ListedModel[], request: ListRequest): object;
  entry(model: ListedModel, door: ListRequest["door"]): object;
}
