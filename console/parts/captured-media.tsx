import { useEffect, useMemo } from "preact/hooks";
import type { CapturedMedium } from "../api/types.ts";
import { counted } from "../format/numbers.ts";

/** How each type is shown. The gateway sends no other types; another type would be shown as text. */
const SHOWN: Readonly<Record<string, "image" | "sound">> = {
  "image/png": "image",
  "image/jpeg": "image",
  "image/gif": "image",
  "image/webp": "image",
  "audio/wav": "sound",
  "audio/mpeg": "sound",
  "audio/ogg": "sound",
};

/** Images and audio of a call's bodies, with the numbers by which the text refers to them. */
export const CapturedMedia = ({ media }: { media: readonly CapturedMedium[] }) => (
  <ul class="media">
    {media.map((medium, index) => (
      <li key={index}>
        <figure>
          <Medium medium={medium} name={`Medium ${index + 1}`} />
          <figcaption class="muted">
            Medium {index + 1}: {medium.type}, {counted(medium.bytes, "byte")}
          </figcaption>
        </figure>
      </li>
    ))}
  </ul>
);

function Medium({ medium: { type, data }, name }: { medium: CapturedMedium; name: string }) {
  if (SHOWN[type] === "image") return <img src={`data:${type};base64,${data}`} alt={`${name} of the call`} />;
  if (SHOWN[type] === "sound") return <Sound type={type} data={data} name={name} />;
  return null;
}

/** The content security policy allows audio only from blobs. */
function Sound({ type, data, name }: { type: string; data: string; name: string }) {
  const url = useMemo(() => {
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    return URL.createObjectURL(new Blob([bytes], { type }));
  }, [type, data]);
  useEffect(() => () => URL.revokeObjectURL(url), [url]);
  // biome-ignore lint/a11y/useMediaCaption: the body that contains it has the text
  return <audio controls src={url} aria-label={`${name} of the call`} />;
}
