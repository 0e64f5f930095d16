/** What the compiled program runs in a thread: the simulator's videos, which take all of one. */
import "../sim/media-maker/film-worker.ts";
