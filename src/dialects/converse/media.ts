import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { CanonCall } from "../../canon/call.ts";
import { fieldPath } from "../../canon/field-names.ts";
import type { Notes } from "../../canon/notes.ts";
import type { MediaPart } from "../../canon/part.ts";
import type { EncodeRequestContext } from "../codec.ts";

const IMAGE_FORMATS: ReadonlyMap<string, string> = new Map([
  ["image/png", "png"],
  ["image/jpeg", "jpeg"],
  ["image/jpg", "jpeg"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
]);

const VIDEO_FORMATS: ReadonlyMap<string, string> = new Map([
  ["video/mp4", "mp4"],
  ["video/quicktime", "mov"],
  ["video/mov", "mov"],
  ["video/x-matroska", "mkv"],
  ["video/webm", "webm"],
  ["video/x-flv", "flv"],
  ["video/mpeg", "mpeg"],
  ["video/x-ms-wmv", "wmv"],
  ["video/wmv", "wmv"],
  ["video/3gpp", "three_gp"],
]);

const OFFICE = "application/vnd.openxmlformats-officedocument";
const DOCUMENT_FORMATS: ReadonlyMap<string, string> = new Map([
  ["application/pdf", "pdf"],
  ["text/csv", "csv"],
  ["application/msword", "doc"],
  [`${OFFICE}.wordprocessingml.document`, "docx"],
  ["application/vnd.ms-excel", "xls"],
  [`${OFFICE}.spreadsheetml.sheet`, "xlsx"],
  ["text/html", "html"],
  ["text/plain", "txt"],
  ["text/markdown", "md"],
]);

const MAX_NAME_CHARACTERS = 200;

/** Encodes images, videos and documents with their bytes inside the request. */
export class MediaEncoder {
  readonly #call: CanonCall;
  readonly #context: EncodeRequestContext;
  readonly #notes: Notes;
  /** Documents of one request must have different names. */
  readonly #names = new Set<string>();
  /** The last number appended to each name, so that many equal names do not each try all numbers. */
  readonly #counts = new Map<string, number>();

  constructor(call: CanonCall, context: EncodeRequestContext, notes: Notes) {
    this.#call = call;
    this.#context = context;
    this.#notes = notes;
  }

  /** The block, or undefined with a note if the provider has none for it. */
  encode(part: MediaPart): JsonObject | undefined {
    if (!this.#context.quirks.media.includes(part.kind))
      return this.#drop(part, `this provider does not accept ${part.kind} input`);
    if (part.detail !== undefined) this.#omit(part, "detail");
    if (part.clip !== undefined) this.#omit(part, "clip");
    switch (part.kind) {
      case "image":
        return this.#encodeBytes(part, "image", IMAGE_FORMATS);
      case "video":
        return this.#encodeBytes(part, "video", VIDEO_FORMATS);
      case "document":
        return this.#encodeDocument(part);
      case "audio":
        return this.#drop(part, "this protocol does not support audio");
    }
  }

  #encodeBytes(part: MediaPart, kind: "image" | "video", formats: ReadonlyMap<string, string>) {
    const { source } = part;
    if (source.type !== "data") return this.#drop(part, `this provider accepts ${kind}s only as inline data`);
    const format = formats.get(plainType(source.mimeType));
    if (format === undefined)
      return this.#drop(part, `this provider does not accept ${kind}s of type ${source.mimeType}`);
    if (part.title !== undefined) {
      this.#notes.dropped(
        fieldPath(this.#call.fieldNames, part, "title"),
        "this protocol supports names only for documents",
      );
    }
    return { [kind]: { format, source: { bytes: source.data } } };
  }

  #encodeDocument(part: MediaPart): JsonObject | undefined {
    const content = this.#documentContent(part);
    if (content === undefined) return undefined;
    return {
      document: {
        format: content.format,
        name: this.#nameOf(part),
        source: content.source,
        ...withoutAbsent({ context: part.context }),
        ...(part.citations ? { citations: { enabled: true } } : {}),
      },
    };
  }

  #documentContent(part: MediaPart): { format: string; source: JsonObject } | undefined {
    const { source } = part;
    switch (source.type) {
      case "text":
        return { format: "txt", source: { text: source.text } };
      case "parts": {
        const texts = source.parts.flatMap((inner) => (inner.type === "text" ? [{ text: inner.text }] : []));
        for (const inner of source.parts) {
          if (inner.type !== "text") this.#drop(inner, "this provider accepts only text in multi-part documents");
        }
        return texts.length === 0 ? undefined : { format: "txt", source: { content: texts } };
      }
      case "data": {
        const type = plainType(source.mimeType);
        const format = DOCUMENT_FORMATS.get(type) ?? (type.startsWith("text/") ? "txt" : undefined);
        if (format !== undefined) return { format, source: { bytes: source.data } };
        this.#drop(part, `this provider does not accept documents of type ${source.mimeType}`);
        return undefined;
      }
      default:
        this.#drop(part, "this provider accepts documents only as inline data");
        return undefined;
    }
  }

  /** The provider accepts letters, digits, single spaces, hyphens, parentheses and brackets. */
  #nameOf(part: MediaPart): string {
    const title = part.title ?? "";
    const clean = title
      .replaceAll(/[^A-Za-z0-9\s()[\]-]+/g, "-")
      .replaceAll(/\s+/g, " ")
      .trim()
      .slice(0, MAX_NAME_CHARACTERS - 8);
    const base = clean === "" ? "document" : clean;
    let name = base;
    let count = this.#counts.get(base) ?? 1;
    while (this.#names.has(name)) name = `${base} (${++count})`;
    this.#counts.set(base, count);
    this.#names.add(name);
    if (part.title !== undefined && name !== part.title) {
      const path = fieldPath(this.#call.fieldNames, part, "title");
      this.#notes.approximated(path, `renamed to "${name}" to meet this provider's rules`);
    }
    return name;
  }

  #omit(part: MediaPart, field: "detail" | "clip"): void {
    this.#notes.dropped(fieldPath(this.#call.fieldNames, part.path, field), "this protocol has no such setting");
  }

  #drop(part: MediaPart, reason: string): undefined {
    this.#notes.dropped(part.path ?? part.kind, reason);
  }
}

const plainType = (mimeType: string): string => (mimeType.split(";")[0] ?? "").trim().toLowerCase();
