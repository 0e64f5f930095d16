import type { CanonCall } from "../../canon/call.ts";
import { GatewayError } from "../../canon/error.ts";
import { AT_TARGET, type MediaPart, type MediaSource } from "../../canon/part.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import type { ReceivedRequest } from "../../dialects/received-request.ts";
import { type FileToSend, type NamedFile, replaceFileParts } from "../../dialects/request/file-parts.ts";
import type { ProviderFiles } from "../../providers/files/provider-files.ts";
import { walkMedia } from "../request/walk-media.ts";
import { kindOfType } from "./ways-to-send.ts";

/** Some protocols name files by URLs. */
const namedBy = ({ source }: MediaPart): string =>
  source.type === "file" ? source.id : source.type === "url" ? source.url : "";

/** A file that one provider has. */
export interface PlacedFile {
  readonly file: NamedFile;
  readonly providerId: string;
}

/** The files of a request as one target gets them, by the ids that the request names them with. */
export class PlacedFiles {
  /** At the provider. */
  readonly placed: ReadonlyMap<string, PlacedFile>;
  /** With their content. */
  readonly inline: ReadonlyMap<string, FileToSend>;
  readonly at: ProviderFiles | undefined;
  /** How many of `placed` were uploaded for this call. */
  readonly uploaded: number;

  constructor(made: Pick<PlacedFiles, "placed" | "inline" | "at" | "uploaded">) {
    this.placed = made.placed;
    this.inline = made.inline;
    this.at = made.at;
    this.uploaded = made.uploaded;
  }

  /** For a target of the client's own protocol. */
  inRequest(received: ReceivedRequest, dialect: Dialect): ReceivedRequest {
    return this.#replaced(received, dialect, true);
  }

  /** For any other: the ids of files at the provider stay, for `inCall`. */
  withContent(received: ReceivedRequest, dialect: Dialect): ReceivedRequest {
    return this.inline.size === 0 ? received : this.#replaced(received, dialect, false);
  }

  #replaced(received: ReceivedRequest, { requests }: Dialect, isNative: boolean): ReceivedRequest {
    const { fileParts, objects } = requests;
    if (fileParts === undefined || objects === undefined) return received;
    const body = replaceFileParts(received.body, fileParts, objects.opaque, (part, id, path) => {
      const placed = isNative ? this.placed.get(id) : undefined;
      if (placed !== undefined) return fileParts.rename(part, placed.providerId, placed.file);
      const content = this.inline.get(id);
      if (content === undefined) return part;
      const inlined = fileParts.inline(part, content);
      if (inlined !== undefined) return inlined;
      const message = `${path} cannot contain the file ${JSON.stringify(id)} of type ${content.mimeType}.`;
      throw new GatewayError("invalid_request", message, { path });
    });
    const { bytes: _received, ...rest } = received;
    return { ...rest, text: JSON.stringify(body), body, outline: undefined };
  }

  /** Names the files as the provider does. */
  inCall(call: CanonCall): CanonCall {
    if (this.placed.size === 0) return call;
    return walkMedia(call, (part): MediaPart => {
      const placed = this.placed.get(namedBy(part));
      if (placed === undefined) return part;
      const { mimeType } = placed.file;
      const source: MediaSource = { type: "file", id: placed.providerId, origin: AT_TARGET, mimeType };
      return { ...part, kind: kindOfType(mimeType), source };
    });
  }
}
