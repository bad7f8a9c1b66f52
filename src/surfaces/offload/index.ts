/** Outputs that are over their budget: the part that keeps them, and the files of a folder. */
export { offload } from '../../parts/offload/part.ts';
export { type FileOffloadOptions, fileOffload } from './file-offload.ts';
