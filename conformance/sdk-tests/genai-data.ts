import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { drawImage } from "../../simulator/media-maker/draw-image.ts";
import { makeStillVideo } from "../../simulator/media-maker/make-still-video.ts";

const PNGS = ["google.png", "bridge1.png", "checkerboard.png", "google_homepage.png"];
const JPEGS = ["google.jpg", "dog.jpg", "man.jpg", "segmentation_scribble.jpg", "skateboard_stop_sign.jpg"];
const PDF = "%PDF-1.4\n1 0 obj<</Type/Page>>endobj\n%%EOF\n";

/** The files that google-genai's tests read. Its source distribution leaves them out. */
export async function writeGenaiData(tests: string): Promise<void> {
  const folder = join(tests, "data");
  mkdirSync(folder, { recursive: true });
  const write = (name: string, content: string | Uint8Array) => writeFileSync(join(folder, name), content);
  const draw = (name: string, format: "png" | "jpeg") =>
    drawImage({ prompt: name, width: 256, height: 256, seed: 1, format }).then((image) => write(name, image));
  for (const name of PNGS) await draw(name, "png");
  for (const name of JPEGS) await draw(name, "jpeg");
  write(
    "animal.mp4",
    await makeStillVideo({ prompt: "an animal", width: 256, height: 256, seconds: 1, fps: 24, audio: false, seed: 1 }),
  );
  write("story.pdf", PDF);
  write("story.txt", "A story.\n");
  for (const name of ["pixel.m4a", "voice_sample.wav"]) write(name, new Uint8Array(1024));
}
