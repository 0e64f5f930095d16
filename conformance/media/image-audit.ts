import { expect } from "bun:test";
import type { ReceiptData } from "../../testing/receipt-data.ts";
import type { ImageFamily } from "./image-families.ts";
import type { ImageHarness } from "./image-harness.ts";

/** The format and size of an image, such as `png 1024x1024`. It is fully decoded: a header alone proves nothing. */
export async function lookAt(base64: string | undefined): Promise<string> {
  const bytes = Buffer.from(base64 ?? "", "base64");
  const { format, width, height } = await new Bun.Image(bytes).metadata();
  await new Bun.Image(bytes).resize(8, 8).png().bytes();
  return `${format} ${width}x${height}`;
}

export const lookAtAll = (images: readonly (string | undefined)[]): Promise<string[]> =>
  Promise.all(images.map(lookAt));

/** Contract 2.4: the receipt counts the images, and bills them by the catalogue's price. */
export function expectBilled(receipt: ReceiptData, { price }: ImageFamily, made: number, large = false): void {
  expect(receipt.usage["images"]).toBe(made);
  if (typeof price === "number") expect(receipt.cost_usd).toBeCloseTo(price * made, 9);
  else if ("each" in price) expect(receipt.cost_usd).toBeCloseTo((large ? price.large : price.each) * made, 9);
  else {
    // Thoughts cost as much as text.
    const counters = [...Object.entries(price), ["reasoning", price.output]] as [string, number][];
    const dollars = counters.reduce((sum, [name, value]) => sum + ((receipt.usage[name] ?? 0) * value) / 1e6, 0);
    if (made > 0) expect(receipt.usage["image_output"]).toBeGreaterThan(0);
    expect(receipt.cost_usd).toBeCloseTo(dollars, 6);
  }
}

/** The notes of a receipt, sorted: `dropped parameters.seed`. */
export const notesOf = ({ fields }: ReceiptData): string[] =>
  fields.map(({ action, path }) => `${action} ${path}`).sort();

export function receiptOf({ gateway }: ImageHarness, id: string | null | undefined): Promise<ReceiptData> {
  return gateway.receipt(new Response(null, { headers: { "x-trivium-receipt": id ?? "" } }));
}

/** The calls that succeeded for each family, printed when a suite has ended. */
export class CallTable {
  readonly #title: string;
  readonly #calls = new Set<string>();
  readonly #rows = new Map<string, Set<string>>();

  constructor(title: string) {
    this.#title = title;
  }

  good({ provider, model }: ImageFamily, call: string): void {
    this.#calls.add(call);
    const row = `${provider}: ${model}`;
    this.#rows.set(row, (this.#rows.get(row) ?? new Set()).add(call));
  }

  print(): void {
    const calls = [...this.#calls];
    const wide = Math.max(...[...this.#rows.keys()].map(({ length }) => length));
    const lines = [...this.#rows].map(([row, good]) => {
      return `${row.padEnd(wide)}  ${calls.map((call) => (good.has(call) ? "+" : ".").padEnd(call.length)).join("  ")}`;
    });
    process.stdout.write(`\n${this.#title}\n${"".padEnd(wide)}  ${calls.join("  ")}\n${lines.join("\n")}\n`);
  }
}
