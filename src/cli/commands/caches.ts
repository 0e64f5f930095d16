import { objectVerbs } from "../object-verbs.ts";

export const caches = objectVerbs({
  kind: "cache",
  noun: "cache",
  about: "caches at providers",
  columns: ["id", "created_at", "name", "model", "tokens", "cost_usd", "providers", "project", "key", "expires_at"],
});
