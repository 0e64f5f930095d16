import { atLeast, atMost } from "../../../media/image-size.ts";
import type { ImageSize } from "../../../sniff-image.ts";

/** What one family of image models takes. */
export interface ImageModel {
  name: RegExp;
  /** Where it is served: synchronously, as a task with messages, or as a task with a prompt. */
  served: readonly ("sync" | "messages task" | "text task" | "images task")[];
  /** By name, the length of a square's side. */
  tiers: Readonly<Record<string, number>>;
  takes: (size: ImageSize, references: number) => boolean;
  defaultSide: number;
  maxImages: number;
  defaultImages: number;
  references: readonly [min: number, max: number];
  /** The parameters that not every family has. */
  extras: readonly string[];
  /** Several images stand in one choice, or each in its own. */
  spread: "contents" | "choices";
}

const DATED = "(-\\d{4}-\\d{2}-\\d{2})?";
const named = (pattern: string): RegExp => new RegExp(`^(${pattern})${DATED}$`);
const FIXED = ["1664*928", "1472*1104", "1328*1328", "1104*1472", "928*1664"];
const areaWithin =
  (min: number, max: number) =>
  (size: ImageSize): boolean =>
    atLeast(size, min ** 2) && atMost(size, max ** 2);
const ratioWithin8 = ({ width, height }: ImageSize): boolean => width <= height * 8 && height <= width * 8;

/** What most of them have; each lists where it differs. */
const BASE_MODEL = {
  served: ["sync"],
  tiers: {},
  takes: () => true,
  defaultSide: 1024,
  maxImages: 1,
  defaultImages: 1,
  references: [0, 0],
  extras: ["negative_prompt"],
  spread: "contents",
} as const satisfies Omit<ImageModel, "name">;
const WAN_2_7 = {
  ...BASE_MODEL,
  served: ["sync", "messages task"],
  defaultSide: 2048,
  maxImages: 4,
  defaultImages: 4,
  references: [0, 9],
  extras: ["thinking_mode", "enable_sequential"],
  spread: "choices",
} as const;
const EARLIER_WAN = { ...BASE_MODEL, maxImages: 4, defaultImages: 4, spread: "choices" } as const;

const MODELS: readonly ImageModel[] = [
  {
    ...BASE_MODEL,
    name: named("qwen-image-[23]\\.0(-pro)?"),
    takes: (size) => areaWithin(512, 2048)(size) && ratioWithin8(size),
    defaultSide: 2048,
    maxImages: 6,
    references: [0, 3],
  },
  {
    ...BASE_MODEL,
    name: named("qwen-image(-plus|-max)?"),
    served: ["sync", "text task"],
    takes: ({ width, height }) => FIXED.includes(`${width}*${height}`),
    defaultSide: 1328,
  },
  {
    ...BASE_MODEL,
    name: named("qwen-image-edit-(max|plus)"),
    takes: ({ width, height }) => Math.min(width, height) >= 512 && Math.max(width, height) <= 2048,
    maxImages: 6,
    references: [1, 3],
  },
  { ...BASE_MODEL, name: named("qwen-image-edit"), takes: () => false, references: [1, 3] },
  {
    ...WAN_2_7,
    name: named("wan2\\.7-image"),
    tiers: { "1K": 1024, "2K": 2048 },
    takes: areaWithin(768, 2048),
  },
  {
    ...WAN_2_7,
    name: named("wan2\\.7-image-pro"),
    tiers: { "1K": 1024, "2K": 2048, "4K": 4096 },
    takes: (size, references) => areaWithin(768, references === 0 ? 4096 : 2048)(size),
  },
  { ...BASE_MODEL, name: named("z-image-turbo"), extras: [] },
  {
    ...EARLIER_WAN,
    name: named("wan2\\.[0-6]-t2i(-[a-z]+)?|wanx2\\.[01]-t2i(-[a-z]+)?|wanx-v1"),
    served: ["sync", "text task"],
  },
  { ...EARLIER_WAN, name: named("wan2\\.[0-6]-i2i(-[a-z]+)?"), served: ["images task"], references: [1, 3] },
  {
    ...BASE_MODEL,
    name: /^standard$/,
    served: ["sync", "messages task", "text task", "images task"],
    tiers: { "1K": 1024, "2K": 2048, "4K": 4096 },
    maxImages: 6,
    references: [0, 9],
    extras: ["negative_prompt", "thinking_mode", "enable_sequential"],
  },
];

/** The most images of a series that belongs together. */
export const MAX_SEQUENTIAL = 12;

export function imageModel(name: string, served: ImageModel["served"][number]): ImageModel | undefined {
  return MODELS.find((model) => model.name.test(name) && model.served.includes(served));
}
