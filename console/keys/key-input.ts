import type { Key } from "../api/types.ts";
import { partLimitsOf } from "../parts/key-forms.tsx";
import { readLimits } from "../state/limits.ts";
import { cacheOf } from "./cache-fields.tsx";

/** The groups of settings of a key. Each is edited by itself. */
export const GROUPS = ["general", "limits", "access", "data", "routing", "parts"] as const;
export type Group = (typeof GROUPS)[number];

export const GROUP_NAMES: Readonly<Record<Group, string>> = {
  general: "Name, tags and expiry",
  limits: "Limits and budgets",
  access: "What it may use",
  data: "Data and billing",
  routing: "Routing",
  parts: "Limits by end user, model and tag",
};

/** As `protocols` names them. */
export const PROTOCOLS = ["chat", "messages", "genai", "responses", "interactions", "realtime", "live"] as const;

type Body = Record<string, unknown>;

const text = (form: FormData, name: string): string => String(form.get(name) ?? "").trim();

const list = (form: FormData, name: string): string[] =>
  text(form, name)
    .split(/[\s,]+/)
    .filter((word) => word !== "");

/** What a form has; of a new key (`item` absent) only what is set, of a change `null` for what was removed. */
const orNull = (item: Key | undefined, name: string, value: unknown, isSet: boolean): Body =>
  isSet ? { [name]: value } : item === undefined ? {} : { [name]: null };

function general(form: FormData, item: Key | undefined): Body {
  const expires = text(form, "expires_at");
  // The field has no seconds, so an expiry that was not touched is not sent.
  const isTouched = item === undefined || expires !== text(form, "expires_before");
  return {
    name: text(form, "name"),
    ...(form.has("project") ? { project: text(form, "project") } : {}),
    ...orNull(item, "tags", list(form, "tags"), list(form, "tags").length > 0),
    ...(isTouched ? orNull(item, "expires_at", expires && new Date(expires).toISOString(), expires !== "") : {}),
  };
}

function access(form: FormData, item: Key | undefined): Body {
  const models = list(form, "models");
  const networks = list(form, "networks");
  const protocols = form.getAll("protocols").map(String);
  const scopes = form.has("scope_keys") ? ["keys:create"] : [];
  return {
    ...orNull(item, "models", models, models.length > 0),
    ...orNull(item, "protocols", protocols, protocols.length > 0),
    ...orNull(item, "networks", networks, networks.length > 0),
    ...orNull(item, "scopes", scopes, scopes.length > 0),
  };
}

/** A switch is sent if it is on, or was. */
const flag = (form: FormData, item: Key | undefined, name: "strict" | "capture" | "provider_objects"): Body =>
  form.has(name) === (item?.[name] ?? false) ? {} : { [name]: form.has(name) };

function data(form: FormData, item: Key | undefined): Body {
  const [objects, unpriced] = [text(form, "objects"), text(form, "unpriced")];
  return {
    ...flag(form, item, "strict"),
    ...flag(form, item, "capture"),
    // Only admins have this field.
    ...(form.has("provider_objects_shown") ? flag(form, item, "provider_objects") : {}),
    ...orNull(item, "objects", objects, objects !== ""),
    ...(unpriced !== "" || item !== undefined ? { billing: { unpriced: unpriced || null } } : {}),
    ...cacheOf(form, item),
  };
}

const YES_NO: Readonly<Record<string, boolean>> = { yes: true, no: false };

function routing(form: FormData, item: Key | undefined): Body {
  const before: Body = { ...item?.routing };
  const require = Object.fromEntries(
    ["retention", "region"].map((name) => [name, text(form, `require_${name}`)]).filter(([, value]) => value !== ""),
  );
  const fallback = text(form, "fallback");
  const whole = (name: string) => (text(form, name) === "" ? undefined : Number(text(form, name)));
  const given: Body = {
    type: text(form, "type") || undefined,
    primary_factor: text(form, "primary_factor") || undefined,
    fallback: fallback === "" ? undefined : (YES_NO[fallback] ?? fallback),
    survive: YES_NO[text(form, "survive")],
    hedge: YES_NO[text(form, "hedge")],
    deadline_ms: whole("deadline_ms"),
    max_attempts: whole("max_attempts"),
    sticky: text(form, "sticky") || undefined,
    require: Object.keys(require).length === 0 ? undefined : require,
  };
  const changes = Object.entries(given).flatMap(([name, value]) =>
    value !== undefined ? [[name, value]] : before[name] === undefined ? [] : [[name, null]],
  );
  return changes.length === 0 ? {} : { routing: Object.fromEntries(changes) };
}

/** Only limits that differ are sent, so that two people who change different ones do not undo each other. */
const changedLimits = (form: FormData, before: Readonly<Record<string, number>>): Body =>
  Object.fromEntries(Object.entries(readLimits(form, before)).filter(([name, value]) => value !== before[name]));

const READERS: Readonly<Record<Group, (form: FormData, item: Key | undefined) => Body>> = {
  general,
  limits: (form, item) => ({ limits: changedLimits(form, item?.limits ?? {}) }),
  access,
  data,
  routing,
  parts: (form, item) => ({ ...partLimitsOf(form, item) }),
};

/** What the Admin API is sent for these groups. */
export const keyInput = (form: FormData, groups: readonly Group[], item?: Key): Body =>
  Object.assign({}, ...groups.map((group) => READERS[group](form, item)));
