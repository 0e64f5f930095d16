import type { JsonObject } from "../../base/json.ts";
import { refuse } from "../../dialects/reading/check.ts";
import type { Form } from "../../wire/read-multipart.ts";

/** A form has only text; these fields have other types in JSON (H12). */
const NUMBERS = ["seed"];
const BOOLEANS = ["generate_audio"];
/** `input_reference[image_url]`: a member of an object. */
const MEMBER = /^(\w+)\[(\w+)\]$/;

/** The body that a form of the videos API stands for. A file becomes a data URL. */
export function formBody(form: Form): JsonObject {
  const body = new Map<string, unknown>();
  for (const entry of form) {
    const { name } = entry;
    const [, object, member] = MEMBER.exec(name) ?? [];
    if (body.has(name)) refuse(name, "is given more than once");
    if ("bytes" in entry) body.set(name, fileOf(entry));
    else if (object !== undefined && member !== undefined) {
      const before = body.get(object) ?? {};
      if (typeof before !== "object" || before === null)
        refuse(name, `cannot be a member: ${object} is also given alone`);
      body.set(object, { ...before, [member]: entry.value });
    } else if (entry.value !== "" || name === "prompt") body.set(name, typed(name, entry.value));
  }
  return Object.fromEntries(body);
}

type FormFile = Extract<Form[number], { bytes: Uint8Array }>;

function fileOf({ name, mimeType, bytes }: FormFile): string {
  if (bytes.length === 0) refuse(name, "must be a file; it is empty");
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
  return `data:${mimeType || "application/octet-stream"};base64,${base64}`;
}

/** A value that is not of its type stays text, for the check to report. */
function typed(name: string, value: string): unknown {
  if (NUMBERS.includes(name) && /^-?\d{1,15}$/.test(value)) return Number(value);
  if (BOOLEANS.includes(name) && /^(?:true|false)$/i.test(value)) return value.toLowerCase() === "true";
  return value;
}
