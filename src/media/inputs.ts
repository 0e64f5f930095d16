import { refuse } from "../dialects/reading/check.ts";
import type { InlineImage } from "./image.ts";
import type { ImageLink } from "./image-request.ts";
import type { ImageSource } from "./read-image.ts";

/** Collects the images of a request with the path of each. */
export class Inputs {
  readonly #inputs: InlineImage[] = [];
  readonly #paths: string[] = [];
  readonly #links: ImageLink[] = [];
  #mask: { source: ImageSource; path: string } | undefined;

  add(source: ImageSource, path: string): void {
    if ("url" in source) this.#links.push({ url: source.url, position: this.#paths.length });
    else this.#inputs.push(source);
    this.#paths.push(path);
  }

  setMask(source: ImageSource, path: string): void {
    if (this.#mask !== undefined)
      refuse(path, `is a second mask; only one is allowed, and ${this.#mask.path} is the first`);
    this.#mask = { source, path };
  }

  done(): { inputs: InlineImage[]; inputPaths: string[]; links: ImageLink[]; mask?: InlineImage; maskPath?: string } {
    const mask = this.#mask;
    const found = { inputs: this.#inputs, inputPaths: this.#paths, links: this.#links };
    if (mask === undefined) return found;
    if (!("url" in mask.source)) return { ...found, mask: mask.source, maskPath: mask.path };
    return { ...found, links: [...this.#links, { url: mask.source.url, position: "mask" }], maskPath: mask.path };
  }
}
