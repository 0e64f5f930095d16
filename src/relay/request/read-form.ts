import type { JsonObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { MultipartError } from "../../wire/multipart-error.ts";
import { type Form, readMultipart } from "../../wire/read-multipart.ts";
import type { Gateway } from "../gateway.ts";
import type { HeldMemory } from "./memory-budget.ts";
import { readBytes } from "./read-body.ts";

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
    if (!(error instanceof MultipartError)) throw error;
    const kind = error.kind === "too_large" ? "too_large" : "invalid_request";
    throw new GatewayError(kind, error.message, {
      ...(error.field === undefined ? {} : { path: error.field }),
      cause: error,
    });
  }
}

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
