import type { UpstreamCodec } from "./codec.ts";
import type { Dialect } from "./dialect.ts";

/** The dialects of one gateway. */
export class DialectRegistry {
  /** The dialects for clients. Requests that resemble none of them are answered in the first. */
  readonly clients: readonly [Dialect, ...Dialect[]];
  readonly #dialects: ReadonlyMap<string, Dialect>;
  readonly #codecs: ReadonlyMap<string, UpstreamCodec>;

  /** Providers may use all of them; clients only the first list. */
  constructor(dialects: readonly [Dialect, ...Dialect[]], upstreamOnly: readonly UpstreamCodec[] = []) {
    this.clients = dialects;
    this.#dialects = new Map(dialects.map((dialect) => [dialect.name, dialect]));
    const codecs = [...dialects.map(({ codec }) => codec), ...upstreamOnly];
    this.#codecs = new Map(codecs.map((codec) => [codec.name, codec]));
  }

  /** The same with more dialects for clients. */
  with(...more: readonly Dialect[]): DialectRegistry {
    return new DialectRegistry([...this.clients, ...more], [...this.#codecs.values()]);
  }

  get(name: string): Dialect {
    const dialect = this.#dialects.get(name);
    if (!dialect) throw new Error(`dialect ${name} is not registered`);
    return dialect;
  }

  /** The dialect's codec for providers; undefined if it is not registered. */
  codec(name: string): UpstreamCodec | undefined {
    return this.#codecs.get(name);
  }

  get upstreamNames(): readonly string[] {
    return [...this.#codecs.keys()];
  }
}
