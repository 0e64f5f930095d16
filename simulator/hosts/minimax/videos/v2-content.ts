import type { Json } from "../../../json.ts";
import { isObject } from "../../../json.ts";
import { Fields } from "../../../media/fields.ts";
import { type GivenImage, givenImage } from "../../../media/given-image.ts";
import { names } from "../../../names.ts";
import { badParameters, refusalsIn, secondWord } from "../refusals.ts";

const REFUSALS = refusalsIn(secondWord);
const ITEM = names("type text image_url video_url audio_url role url");
const TYPES = ["text", "image_url", "video_url", "audio_url"] as const;
const ROLES = {
  text: [],
  image_url: ["first_frame", "last_frame", "reference_image"],
  video_url: ["reference_video"],
  audio_url: ["reference_audio"],
} as const;
const MAX_COUNTS = { image_url: 9, video_url: 3, audio_url: 3 } as const;

export interface Content {
  prompt: string;
  first?: GivenImage;
  last?: GivenImage;
}

interface Item {
  type: (typeof TYPES)[number];
  role: string;
  text: string;
  image?: GivenImage;
}

/** Undefined for an item whose URL is not inside the object of its type: this host takes no notice of it. */
function readItem(value: Json, path: string): Item | undefined {
  const item = new Fields(value, path, ITEM, REFUSALS);
  const type = item.choice("type", TYPES);
  if (type === undefined) throw REFUSALS.missing(`${path}.type`);
  if (type === "text") return { type, role: "", text: item.requiredText("text") };
  const nested = item.value(type);
  if (!isObject(nested)) return undefined;
  const url = new Fields(nested, `${path}.${type}`, names("url"), REFUSALS).requiredText("url");
  const role = item.choice("role", ROLES[type]) ?? ROLES[type][0];
  if (type !== "image_url") return { type, role, text: "" };
  const image = givenImage(url, ["data URL"]);
  if (image === undefined) {
    throw badParameters(secondWord, `${path}.${type}.url is neither a URL nor an image as a data URI`);
  }
  return { type, role, text: "", image };
}

/** The words, frames and references of a video of the second generation. */
export function readContent(values: readonly Json[]): Content {
  const items = values.map((value, at) => readItem(value, `content[${at}]`)).filter((item) => item !== undefined);
  const prompt = items.flatMap((item) => (item.type === "text" ? [item.text] : [])).join("\n");
  if (prompt === "") throw REFUSALS.missing("content: an item of type text");
  for (const [type, max] of Object.entries(MAX_COUNTS)) {
    const count = items.filter((item) => item.type === type).length;
    if (count > max)
      throw badParameters(secondWord, `content has ${count} items of type ${type}, at most ${max} are allowed`);
  }
  const isFrame = ({ role }: Item): boolean => role === "first_frame" || role === "last_frame";
  if (items.some(isFrame) && items.some((item) => item.role.startsWith("reference_"))) {
    throw badParameters(secondWord, "frames and references cannot be used together");
  }
  const frames = (role: string): Item[] => items.filter((item) => item.role === role);
  for (const role of ["first_frame", "last_frame"]) {
    if (frames(role).length > 1) throw badParameters(secondWord, `content has more than one ${role}`);
  }
  const first = frames("first_frame")[0]?.image;
  const last = frames("last_frame")[0]?.image;
  return { prompt, ...(first === undefined ? {} : { first }), ...(last === undefined ? {} : { last }) };
}
