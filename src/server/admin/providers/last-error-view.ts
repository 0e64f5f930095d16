import type { LastError } from "../../../routing/health/provider-states.ts";

export const lastErrorView = (error: LastError | undefined) =>
  error === undefined
    ? null
    : { kind: error.kind, status: error.status ?? null, text: error.text, at: new Date(error.atMs).toISOString() };
