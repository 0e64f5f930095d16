/** A part of an outgoing form, without its content. */
interface PartHead {
  name: string;
  /** Set for a file. */
  fileName?: string;
  mimeType?: string;
}

/** The header lines of a part. */
export function multipartPartHead({ name, fileName, mimeType }: PartHead): string {
  const disposition = `Content-Disposition: form-data; name="${quoted(name)}"`;
  if (fileName === undefined) return disposition;
  return `${disposition}; filename="${quoted(fileName)}"\r\nContent-Type: ${mimeType}`;
}

/** How browsers write the three characters that a quoted name cannot contain. */
const quoted = (name: string): string => name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
