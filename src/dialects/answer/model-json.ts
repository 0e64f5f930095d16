/** A gateway has few models, and each call names one twice. */
const MAX_KNOWN = 1_000;
const known = new Map<string, string>();

/** The name of a model as JSON. */
export function modelJson(name: string): string {
  let json = known.get(name);
  if (json === undefined) {
    json = JSON.stringify(name);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(name, json);
  }
  return json;
}
