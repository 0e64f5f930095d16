import type { UpstreamCodec } from "./codec.ts";
import type { Dialect } from "./dialect.ts";

/** The dialects that one gateway speaks. */
export class DialectRegistry {
  /** Those that clients speak. Requests that resemble none are answered in the first. */
  readonly clients: readonly [Dialect, ...Dialect[]];
  readonly #dialects: ReadonlyMap<string, Dialect>;
  readonly #codecs: ReadonlyMap<string, UpstreamCodec>;

  /** Providers may speak all of them; clients speak the first list alone. */
  constructor(dialects: readonly [Dialect, ...Dialect[]], upstreamOnly: readonly UpstreamCodec[] = []) {
    this.clients = dialects;
    this.#dialects = new Map(dialects.map((dialect) => [dialect.name, dialect]));
    const codecs = [...dialects.map(({ codec }) => codec), ...upstreamOnly];
    this.#codecs = new Map(codecs.map((codec) => [codec.name, codec]));
  }

  /** The same with more dialects that clients speak. */
  with(...more: readonly Dialect[]): DialectRegistry {
    return new DialectRegistry([...this.clients, ...more], [...this.#codecs.values()]);
  }

  get(name: string): Dialect {
    const dialect = this.#dialects.get(name);
    if (!dialect) throw new Error(`no dialect ${name} is registered`);
    return dialect;
  }

  /** How the dialect is spoken towards providers; undefined where it is not registered. */
  codec(name: string): UpstreamCodec | undefined {
    return this.#codecs.get(name);
  }

  get upstreamNames(): readonly string[] {
    return [...this.#codecs.keys()];
  }
}
