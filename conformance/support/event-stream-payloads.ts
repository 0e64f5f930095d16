/** The JSON of each frame of a binary event stream, read without the gateway's own splitter. */
export function eventStreamPayloads(stream: Uint8Array): unknown[] {
  const bytes = Buffer.from(stream);
  const payloads: unknown[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readUInt32BE(at)) {
    const headers = bytes.readUInt32BE(at + 4);
    const payload = bytes.subarray(at + 12 + headers, at + bytes.readUInt32BE(at) - 4).toString();
    payloads.push(JSON.parse(payload || "{}"));
  }
  return payloads;
}

/** A stream of InvokeModel with a Claude model, as the vendor of that model would send it. */
export function invokedAsEvents(stream: Uint8Array): string {
  return eventStreamPayloads(stream)
    .map((payload) => {
      const { bytes } = payload as { bytes: string };
      const data = Buffer.from(bytes, "base64").toString();
      const { type } = JSON.parse(data) as { type: string };
      return `event: ${type}\ndata: ${data}\n\n`;
    })
    .join("");
}
