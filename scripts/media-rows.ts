import { builtInModels } from "../src/catalogue/built-in-models.ts";
import { nameOf, publisherOf } from "../src/catalogue/model.ts";
import type { ImageAdapter, VideoAdapter } from "../src/media/adapter.ts";
import { PROVIDER_KINDS } from "../src/providers/index.ts";

/** Models of one kind of provider that can do the same. */
export interface MediaRow<Adapter extends ImageAdapter | VideoAdapter> {
  kind: string;
  models: string[];
  adapter: Adapter;
  capabilities: ReturnType<Adapter["capabilities"]>;
}

/** Names of models that the catalogue has not, so that every adapter has a row. */
const UNLISTED: Readonly<Record<string, readonly string[]>> = {
  "azure-openai": ["gpt-image-1"],
  qwen: ["wan2.6-image", "wan2.5-t2i-preview", "wan2.5-i2i-preview", "wan2.2-t2i-flash"],
  hunyuan: ["TextToImageLite"],
  runway: ["gen4_image", "gen4_image_turbo"],
  luma: ["photon-1", "ray-2", "ray-flash-2"],
  simulator: ["sim/image", "sim/video"],
};

export const imageRows = (): MediaRow<ImageAdapter>[] => rowsOf("image", (kind) => kind.media?.images ?? []);
export const videoRows = (): MediaRow<VideoAdapter>[] => rowsOf("video", (kind) => kind.media?.videos ?? []);

type Kind = NonNullable<ReturnType<(typeof PROVIDER_KINDS)["get"]>>;

function rowsOf<Adapter extends ImageAdapter | VideoAdapter>(
  output: "image" | "video",
  adaptersOf: (kind: Kind) => readonly Adapter[],
): MediaRow<Adapter>[] {
  const rows: MediaRow<Adapter>[] = [];
  for (const kind of PROVIDER_KINDS.values()) {
    for (const { shown, name } of namesAt(kind, output)) {
      const adapter = adaptersOf(kind).find((each) => each.serves(name));
      if (adapter === undefined) continue;
      const capabilities = adapter.capabilities(name) as ReturnType<Adapter["capabilities"]>;
      const same = rows.find((row) => row.kind === kind.kind && Bun.deepEquals(row.capabilities, capabilities));
      if (same) same.models.push(shown);
      else rows.push({ kind: kind.kind, models: [shown], adapter, capabilities });
    }
  }
  return rows;
}

function namesAt({ kind, publishers }: Kind, output: "image" | "video"): { shown: string; name: string }[] {
  const listed = builtInModels.filter(
    ({ id, outputModalities }) => publishers.includes(publisherOf(id)) && outputModalities.includes(output),
  );
  return [
    ...listed.map(({ id, upstreamModel }) => ({ shown: id, name: upstreamModel })),
    ...(UNLISTED[kind] ?? []).map((shown) => ({ shown, name: nameOf(shown) })),
  ];
}
