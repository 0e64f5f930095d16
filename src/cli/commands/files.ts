import { objectVerbs } from "../object-verbs.ts";

export const files = objectVerbs({
  kind: "file",
  noun: "file",
  about: "uploaded files",
  columns: ["id", "created_at", "name", "type", "bytes", "providers", "project", "key", "expires_at"],
});
