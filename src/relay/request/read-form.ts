import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import { readArrivingForm } from "../../wire/arriving-form.ts";
import { MultipartError } from "../../wire/multipart-error.ts";
import { type Form, readMultipart } from "../../wire/read-multipart.ts";
import type { Gateway } from "../gateway.ts";
import type { HeldMemory } from "./memory-budget.ts";
import { readArriving, readBytes } from "./read-body.ts";

const FORM_LIMITS = { maxParts: 64, maxFieldBytes: 256 * 1024 };

const LARGE_UPLOAD = 1024 * 1024;

/** A form, and the body that its files are views of. */
interface ReadForm {
  form: Form;
  bytes: Buffer;
}

/** Reads and bounds a form; every failure is an error that the caller can act on. */
export async function readForm(request: Request, memory: HeldMemory, gateway: Gateway): Promise<ReadForm> {
  const type = request.headers.get("content-type") ?? "";
  const bytes = await readBytes(request, { maxBytes: gateway.snapshot.maxBodyBytes, memory }, gateway);
  return { form: await parseForm(bytes, type), bytes };
}

export const isForm = (request: Request): boolean =>
  /^multipart\/form-data\b/i.test(request.headers.get("content-type") ?? "");

async function parseForm(bytes: Uint8Array, type: string): Promise<Form> {
  if (bytes.length === 0) throw new GatewayError("invalid_request", "The body is empty; it must be a multipart form.");
  try {
    return await readMultipart(bytes, type, FORM_LIMITS);
  } catch (error) {
    throw asGatewayError(error);
  }
}

function asGatewayError(error: unknown): unknown {
  if (!(error instanceof MultipartError)) return error;
  const kind = error.kind === "too_large" ? "too_large" : "invalid_request";
  return new GatewayError(kind, error.message, withoutAbsent({ path: error.field, cause: error }));
}

/** What a form has besides its file. */
const MAX_OTHER_BYTES = 1024 * 1024;

/** The fields of a form by name, and its one file, which `keep` has stored while it arrived. */
export interface ReceivedUpload<Kept> {
  fields: ReadonlyMap<string, string>;
  name: string;
  mimeType: string;
  kept: Kept;
}

interface UploadReader<Kept> {
  /** The name of the form field with the file. */
  field: string;
  maxBytes: number;
  /** `atLeast`: how large the content is at least, if that is known. */
  keep: (content: AsyncIterable<Uint8Array>, atLeast: number) => Promise<Kept>;
  /** Called for what was kept if the rest of the form is wrong. */
  discard: (kept: Kept) => Promise<void>;
}

/** Reads a form with one file of any size, which is not held in memory. Its other fields may follow it. */
export async function receiveUpload<Kept>(
  request: Request,
  { field, maxBytes, keep, discard }: UploadReader<Kept>,
  gateway: Gateway,
): Promise<ReceivedUpload<Kept>> {
  const type = request.headers.get("content-type") ?? "";
  if (!isForm(request)) {
    const found = type === "" ? "none was sent" : `it is ${type.slice(0, 80)}`;
    const message = `The Content-Type must be multipart/form-data, with the file in the field ${field}; ${found}.`;
    throw new GatewayError("invalid_request", message, { path: "Content-Type" });
  }
  let file: Omit<ReceivedUpload<Kept>, "fields"> | undefined;
  const fields = new Map<string, string>();
  const read = async (body: AsyncIterable<Uint8Array>, declared: number): Promise<void> => {
    for await (const entry of readArrivingForm(body, type, FORM_LIMITS)) {
      if ("value" in entry) {
        fields.set(entry.name, entry.value);
        continue;
      }
      const { name, fileName = name, mimeType, content } = entry;
      if (name !== field || file !== undefined) throw unexpectedFile(name, field);
      file = { name: fileName, mimeType, kept: await keep(content, declared - MAX_OTHER_BYTES) };
    }
  };
  try {
    await readArriving(request, maxBytes + MAX_OTHER_BYTES, read, gateway);
    if (file === undefined) throw new GatewayError("invalid_request", `${field} is missing.`, { path: field });
    return { ...file, fields };
  } catch (error) {
    if (file !== undefined) await discard(file.kept).catch(() => undefined);
    throw asGatewayError(error);
  }
}

const unexpectedFile = (name: string, field: string): GatewayError =>
  new GatewayError("invalid_request", `The form must contain one file, in the field ${field}.`, {
    path: name,
  });

/** Frees an upload once its files are not needed; the garbage collector would keep it until the heap has grown as much. */
export function freeUpload({ buffer, length }: Uint8Array): void {
  if (length >= LARGE_UPLOAD && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** The texts of a form by the last part of their names: `image[0][file_id]` is `file_id`. */
export const formFields = (form: Form): JsonObject =>
  Object.fromEntries(
    form.flatMap((entry) =>
      "value" in entry ? [[entry.name.split(/[[\]]+/).findLast(Boolean) ?? "", entry.value]] : [],
    ),
  );
