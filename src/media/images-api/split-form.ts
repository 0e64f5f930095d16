import type { JsonObject } from "../../base/json.ts";
import { parseObject } from "../../base/json.ts";
import { refuse } from "../../dialects/reading/check.ts";
import type { Form, FormEntry } from "../../wire/read-multipart.ts";

/**
 * A field that addresses the gateway: as JSON under its plain name, or member by member, `provider[providers][]`, as some clients
 * write objects.
 */
const NAME = /^(provider|model_routing_config|trivium)((?:\[\w*\]){0,4})$/;

type Members = Record<string, unknown>;

/** The fields of a form that address the gateway, and the rest, which is sent to providers. */
export function splitForm(form: Form): { routing: JsonObject; rest: FormEntry[] } {
  const routing = members();
  const rest = form.filter((entry) => {
    const [, field, path] = NAME.exec(entry.name) ?? [];
    if (field === undefined || path === undefined) return true;
    if ("bytes" in entry) refuse(entry.name, "must be text; it is a file");
    if (path === "") routing[field] = parseObject(entry.value) ?? entry.value;
    else put(routing, [field, ...path.slice(1, -1).split("][")], typed(entry.value), entry.name);
    return false;
  });
  return { routing, rest };
}

/** No prototype, because the names come from the client. */
const members = (): Members => Object.create(null) as Members;

function put(into: Members, path: readonly string[], value: unknown, name: string): void {
  const [key = "", ...below] = path;
  if (below.length === 0) into[key] = value;
  else if (below.length === 1 && below[0] === "") {
    const list = into[key] ?? [];
    if (!Array.isArray(list)) refuse(name, `cannot be a list: ${key} is also given in another form`);
    into[key] = [...list, value];
  } else {
    const inner = into[key] ?? members();
    if (typeof inner !== "object" || Array.isArray(inner))
      refuse(name, `cannot be a member: ${key} is also given in another form`);
    into[key] = inner;
    put(inner as Members, below, value, name);
  }
}

/** Forms contain only text. The schema check reports a value of the wrong type. */
function typed(text: string): unknown {
  if (text === "true" || text === "false") return text === "true";
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}
