import { arrayAt, isObject } from "../../base/json.ts";
import type { Form } from "../../wire/read-multipart.ts";
import { writeMultipart } from "../../wire/write-multipart.ts";

/** A request with another body. Of a form, the body has the fields as JSON, and the files stay. */
export function withBody({ url, headers, signal }: Request, body: string, form: Form | undefined): Request {
  const changed = new Headers(headers);
  for (const name of ["content-encoding", "transfer-encoding"]) changed.delete(name);
  if (form === undefined) {
    const bytes = Buffer.from(body);
    changed.set("content-length", String(bytes.length));
    return new Request(url, { method: "POST", headers: changed, body: bytes, signal });
  }
  const fields = arrayAt({ fields: JSON.parse(body) as unknown }, "fields");
  const parts = form.map((entry, place) => {
    if (!("value" in entry)) return { ...entry, fileName: entry.fileName ?? entry.name };
    const field = fields[place];
    const value = isObject(field) ? field[entry.name] : undefined;
    return { name: entry.name, value: typeof value === "string" ? value : entry.value };
  });
  const written = writeMultipart(parts, BOUNDARY);
  changed.set("content-type", written.contentType);
  changed.set("content-length", String(written.body.length));
  return new Request(url, { method: "POST", headers: changed, body: written.body, signal });
}

/** The same bytes come back out of a reader that knows where files end, so it need not be secret. */
const BOUNDARY = "trivium-guarded-form-7d1f0c5e9a3b48e2";
