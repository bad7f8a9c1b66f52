/** Keeps outputs that are over their budget in the files of a folder. */
export type { FileOffloadOptions } from './file-offload.ts';
export { fileOffload } from './file-offload.ts';
