/** What a hook needs from this folder. It loads files once, and its start must be fast. */

export { loadHostTools } from './load-host-tools.ts';
export { setFileHost } from './loaded-files.ts';
export { type RulesOnly, rulesOnly } from './rules-only.ts';
