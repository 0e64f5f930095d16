const RATE = 24_000;

/** What of an item was heard when playing stopped. */
export interface Heard {
  itemId: string;
  ms: number;
}

/** Plays parts of sound without gaps, in the order in which they arrive. */
export class Speaker {
  readonly #context = new AudioContext();
  readonly #playing = new Set<AudioBufferSourceNode>();
  /** When what has arrived will have been played. */
  #until = 0;
  #item: { id: string; from: number } | undefined;
  /** Half of a sample that continues in the next part. */
  #rest = new Uint8Array();

  play(itemId: string, part: Uint8Array): void {
    if (this.#item?.id !== itemId) this.#rest = new Uint8Array();
    const bytes = new Uint8Array(this.#rest.length + part.length);
    bytes.set(this.#rest);
    bytes.set(part, this.#rest.length);
    const count = bytes.length >> 1;
    this.#rest = bytes.slice(count * 2);
    if (count === 0) return;
    const view = new DataView(bytes.buffer);
    const buffer = this.#context.createBuffer(1, count, RATE);
    const channel = buffer.getChannelData(0);
    for (let index = 0; index < count; index++) channel[index] = view.getInt16(index * 2, true) / 32_768;
    const node = this.#context.createBufferSource();
    node.buffer = buffer;
    node.connect(this.#context.destination);
    node.onended = () => this.#playing.delete(node);
    this.#playing.add(node);
    const at = Math.max(this.#context.currentTime, this.#until);
    if (this.#item?.id !== itemId) this.#item = { id: itemId, from: at };
    node.start(at);
    this.#until = at + buffer.duration;
  }

  /** Falls silent. Undefined if nothing was playing. */
  stop(): Heard | undefined {
    const now = this.#context.currentTime;
    const item = this.#item;
    const wasPlaying = this.#until > now;
    for (const node of this.#playing) node.stop();
    this.#playing.clear();
    this.#until = 0;
    this.#item = undefined;
    if (!wasPlaying || item === undefined) return undefined;
    return { itemId: item.id, ms: Math.max(0, Math.floor((now - item.from) * 1_000)) };
  }

  close(): void {
    this.stop();
    void this.#context.close();
  }
}
