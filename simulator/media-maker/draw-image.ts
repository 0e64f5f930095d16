import { ByteCache } from "./byte-cache.ts";
import { type ImageOptions, paintImage } from "./paint-image.ts";

const drawn = new ByteCache(32 * 1024 * 1024);

/** A real image that cannot be mistaken for a model's: it shows the request. Hosts are asked for the same one again and again. */
export async function drawImage(options: ImageOptions): Promise<Uint8Array> {
  const key = JSON.stringify(Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1)));
  const known = drawn.get(key);
  if (known) return known;
  const image = await paintImage(options);
  drawn.keep(key, image);
  return image.slice();
}
