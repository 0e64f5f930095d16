import { once } from "node:events";
import { GatewayError } from "../canon/error.ts";
import { EXPORT_FORMATS, exportReceipts } from "../ledger/export.ts";
import { atGateway, GATEWAY_FLAGS } from "./at-gateway.ts";
import { defineCommand, EXIT, UsageError } from "./command.ts";
import { checkOutput, writeOutput } from "./output-file.ts";
import { RANGE_FLAGS, readFilter, readRange, readZone } from "./usage-flags.ts";
import { withStorage } from "./with-storage.ts";

export const exportUsage = defineCommand({
  name: "usage export",
  usage: "[--format csv|jsonl] [--output FILE] [--from TIME] [--to TIME]",
  summary: "write every receipt of a range, the oldest first, as a table or as lines of JSON",
  flags: {
    format: { type: "string", default: "csv", value: "FORMAT", about: `one of ${EXPORT_FORMATS.join(", ")}` },
    output: { type: "string", short: "o", value: "FILE", about: "a file; standard output where it is not given" },
    force: { type: "boolean", default: false, about: "overwrite the file" },
    ...RANGE_FLAGS,
    ...GATEWAY_FLAGS,
  },
  run: async ({ values }) => {
    const format = EXPORT_FORMATS.find((one) => one === values.format);
    if (!format) throw new UsageError(`--format: "${values.format}" is not one of ${EXPORT_FORMATS.join(", ")}.`);
    const { output: path, force } = values;
    if (path !== undefined) checkOutput([path], force);
    const { sinceMs: fromMs, untilMs: toMs } = readRange(values, readZone(values), Date.now());
    const write = async (pieces: AsyncIterable<string>): Promise<void> => {
      if (path !== undefined) await writeOutput({ path, content: encoded(pieces), force });
      else await print(pieces);
    };
    await atGateway(
      values,
      async (client) => {
        const [from, to] = [fromMs, toMs].map((ms) => new Date(ms).toISOString());
        const stream = await client.stream("/api/usage/export", { format, from, to, ...readFilter(values, "key") });
        await write(decoded(stream));
      },
      () =>
        withStorage(values.config, (storage) =>
          write(exportReceipts(storage, { ...readFilter(values, "key"), fromMs, toMs }, format)),
        ),
    );
    return EXIT.ok;
  },
});

async function* encoded(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const piece of pieces) yield encoder.encode(piece);
}

/** The next piece is read when the last one has gone. */
async function print(pieces: AsyncIterable<string>): Promise<void> {
  const { stdout } = process;
  try {
    for await (const piece of pieces) if (!stdout.write(piece)) await once(stdout, "drain");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EPIPE") return;
    throw new GatewayError("internal", "The export could not be written.", { cause });
  }
}

async function* decoded(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const piece of stream) yield decoder.decode(piece, { stream: true });
}
