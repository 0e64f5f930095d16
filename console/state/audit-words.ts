import type { Act } from "../api/types.ts";
import { type Change, changesOf } from "./changes.ts";

/** What each act is, as a verb; `{}` is the object. */
const SENTENCES: Readonly<Record<string, string>> = {
  "key.create": "created the key {}",
  "key.update": "changed the key {}",
  "key.rotate": "gave the key {} a new secret",
  "key.revoke": "revoked the key {}",
  "project.create": "created the project {}",
  "project.update": "changed the project {}",
  "project.delete": "deleted the project {}",
  "operator.create": "created the operator {}",
  "operator.revoke": "revoked the operator {}",
  "session.open": "logged in",
  "session.refused": "tried to log in with a wrong secret or link",
  "session.end": "ended a session of {}",
  "subject.revoke": "revoked the tokens of {}",
  "end_user.limit": "changed the limits of the end user {}",
  "end_user.reset": "removed the own limits of the end user {}",
  "usage.export": "exported the calls as {}",
  "receipt.bodies": "read the captured bodies of the call {}",
  "provider.test": "tested the provider {}",
  "provider.check": "checked a new provider {}",
  "catalogue.update": "updated prices of the catalogue: {}",
  "catalogue.remove": "removed an update of the catalogue: {}",
  "ledger.reprice": "priced stored calls again",
  "operation.cancel": "cancelled the operation {}",
  "live_session.end": "ended the live session {}",
  "batch.cancel": "cancelled the batch {}",
  "object.delete": "deleted the object {}",
  "export.run": "ran the export {}",
  "alerts.test": "sent a test to the webhook {}",
  "alerts.deliver": "sent an alert again to {}",
  "call.stop": "stopped the call {}",
  "cache.clear": "cleared the cached responses of the project {}",
  "receipt.search": "searched captured bodies: {}",
};

export const ACTS = Object.keys(SENTENCES);

/** The acts as a choice: `key.create` is "created the key …". */
export const actWords = (act: string): string => (SENTENCES[act] ?? act).replace("{}", "…").replace(/: …$/, "");

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

const nameIn = (value: unknown): string | undefined => {
  const { name, operator } = fieldsOf(value);
  return typeof name === "string" ? name : typeof operator === "string" ? operator : undefined;
};

/** What the object is called: its name in the act itself, where there is one, because names change. */
export const objectOf = ({ act, target, before, after }: Act, nameOf: (id: string) => string): string => {
  const named = act === "key.update" ? undefined : (nameIn(after) ?? nameIn(before));
  return named ?? nameOf(target);
};

export const actorOf = (who: string, nameOf: (id: string) => string): string => {
  const [kind = "", ...rest] = who.split(":");
  const name = rest.join(":");
  if (name === "") return who;
  return kind === "operator" ? name : kind === "key" ? `the key ${nameOf(name)}` : who;
};

const FIELD_WORDS: Readonly<Record<string, string>> = {
  limits: "limits",
  name: "name",
  models: "models",
  tags: "tags",
  expires_at: "expiry",
  capture: "capture of bodies",
  provider_objects: "objects of providers",
  limits_by_model: "limits by model",
  limits_by_tag: "limits by tag",
  end_users: "limits of end users",
  project_mb: "storage",
};

/** `changed the limits of`, when the fields are known; at most three are named. */
function changeWords({ before, after }: Act, kind: string): string {
  const fields = changesOf(before, after).map(({ name }) => FIELD_WORDS[name] ?? name.replaceAll("_", " "));
  const status = fieldsOf(after)["status"];
  if (fields.length === 1 && status === "suspended") return `suspended the ${kind} {}`;
  if (fields.length === 1 && status === "active") return `lifted the suspension of the ${kind} {}`;
  if (fields.length === 0) return `changed the ${kind} {}`;
  const named = fields.length > 3 ? `${fields.length} settings` : fields.join(" and ");
  return `changed the ${named} of the ${kind} {}`;
}

export interface Sentence {
  actor: string;
  /** Before and after the object; without an object, `after` is empty. */
  before: string;
  object: string | undefined;
  after: string;
}

/** One sentence: admin changed the limits of the key "search". */
export function sentenceOf(act: Act, nameOf: (id: string) => string): Sentence {
  const verb =
    act.act === "key.update"
      ? changeWords(act, "key")
      : act.act === "project.update"
        ? changeWords(act, "project")
        : (SENTENCES[act.act] ?? `${act.act} {}`);
  const [before = "", after] = verb.split("{}");
  return {
    actor: actorOf(act.who, nameOf),
    before,
    object: after === undefined ? undefined : objectOf(act, nameOf),
    after: after ?? "",
  };
}

/** Where the object is shown, if it has a page. */
export function addressOfObject({ act, target }: Act): string | undefined {
  const id = encodeURIComponent(target);
  if (act.startsWith("key.") && act !== "key.purge") return `/keys/${id}`;
  if (act.startsWith("project.") && act !== "project.delete") return `/projects/${id}`;
  if (act === "receipt.bodies") return `/calls/${id}`;
  if (act.startsWith("batch.")) return `/batches/${id}`;
  if (act === "provider.test") return `/providers/${id}`;
  return undefined;
}

/** What an act changed. The name that a revocation or an end has is what it was about, not a change. */
export const fieldsChanged = ({ act, before, after }: Act): Change[] =>
  changesOf(before, after).filter(
    ({ name, after: now }) => act.endsWith(".update") || now !== undefined || (name !== "name" && name !== "operator"),
  );
