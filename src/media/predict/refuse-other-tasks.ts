import { arrayAt, objectAt } from "../../base/json.ts";
import { refuse } from "../../dialects/reading/check.ts";

/** The fields of an instance, or of the parameters, that only another task of the same method has, with what to do instead. */
type OtherTasks = readonly [path: `instances[0].${string}` | `parameters.${string}`, problem: string][];

const RECONTEXT =
  "is not supported; send these images as instances[0].referenceImages of type REFERENCE_TYPE_RAW to a model that edits images";

/**
 * A model would ignore these fields and make something else, which is billed. `mode` is set for upscaling and segmentation, and
 * images have no other.
 */
export const NOT_IMAGES: OtherTasks = [
  [
    "parameters.upscaleConfig",
    "is not supported: images cannot be upscaled; generate them larger, with parameters.sampleImageSize",
  ],
  ["parameters.mode", "is not supported: this method generates and edits images"],
  ["instances[0].productImages", RECONTEXT],
  ["instances[0].personImage", RECONTEXT],
  ["instances[0].scribble", "is not supported: images cannot be segmented"],
];

export const NOT_VIDEOS: OtherTasks = [
  ["instances[0].video", "is not supported: videos cannot be edited or extended by this method; leave it out"],
  ["instances[0].referenceImages", "is not supported; send a first frame as instances[0].image"],
  ["instances[0].mask", "is not supported: videos cannot be edited by this method; leave it out"],
];

/** Refuses a request for a task that the gateway does not have. */
export function refuseOtherTasks(body: unknown, tasks: OtherTasks): void {
  const [instance] = arrayAt(body, "instances");
  const parameters = objectAt(body, "parameters");
  for (const [path, problem] of tasks) {
    const [place, field = ""] = path.split(".");
    const object = place === "parameters" ? parameters : (instance as Record<string, unknown> | undefined);
    if (object?.[field] != null) refuse(path, problem);
  }
}
