import { builtInModels } from "../src/catalogue/built-in-models.ts";
import { nameOf, publisherOf } from "../src/catalogue/model.ts";
import type { ImageAdapter, VideoAdapter } from "../src/media/adapter.ts";
import { PROVIDER_KINDS } from "../src/providers/index.ts";

/** Models of one kind of provider that can do the same. */
export interface MediaRow<Wire extends ImageAdapter | VideoAdapter> {
  kind: string;
  models: string[];
  wire: Wire;
  capabilities: ReturnType<Wire["capabilities"]>;
}

/** Names of models that the catalogue has not, so that every wire has a row. */
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

function rowsOf<Wire extends ImageAdapter | VideoAdapter>(
  output: "image" | "video",
  wiresOf: (kind: Kind) => readonly Wire[],
): MediaRow<Wire>[] {
  const rows: MediaRow<Wire>[] = [];
  for (const kind of PROVIDER_KINDS.values()) {
    for (const { shown, name } of namesAt(kind, output)) {
      const wire = wiresOf(kind).find((each) => each.serves(name));
      if (wire === undefined) continue;
      const capabilities = wire.capabilities(name) as ReturnType<Wire["capabilities"]>;
      const same = rows.find((row) => row.kind === kind.kind && Bun.deepEquals(row.capabilities, capabilities));
      if (same) same.models.push(shown);
      else rows.push({ kind: kind.kind, models: [shown], wire, capabilities });
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
