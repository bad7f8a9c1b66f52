/** What a hook needs of this folder. It loads files once, and its start is waited for. */

export { loadHostTools } from './load-host-tools.ts';
export { setFileHost } from './loaded-files.ts';
