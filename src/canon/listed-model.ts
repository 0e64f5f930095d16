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
  pricings: object;
}

/** The shapes of a dialect's model lists. */
export interface ModelLists {
  list(models: readonly ListedModel[]): object;
  entry(model: ListedModel): object;
}
