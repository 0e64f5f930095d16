import type { StreamedBody } from "./http/http-exchange.ts";
import { multipartPartHead } from "./multipart-part-head.ts";

/** A form of texts and one large file, which comes last. */
export interface StreamedForm {
  fields: readonly { name: string; value: string }[];
  file: { name: string; fileName: string; mimeType: string } & StreamedBody;
}

/** The form as a body that is sent while its file is read. The boundary must be one that the file does not contain by chance. */
export function streamedMultipart(
  { fields, file }: StreamedForm,
  boundary: string,
): StreamedBody & { contentType: string } {
  const texts = fields.map((field) => `--${boundary}\r\n${multipartPartHead(field)}\r\n\r\n${field.value}\r\n`);
  const before = Buffer.from(`${texts.join("")}--${boundary}\r\n${multipartPartHead(file)}\r\n\r\n`);
  const after = Buffer.from(`\r\n--${boundary}--\r\n`);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    bytes: before.length + file.bytes + after.length,
    open: async function* () {
      yield before;
      yield* file.open();
      yield after;
    },
  };
}
