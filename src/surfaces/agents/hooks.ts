/** Gates for coding agents that run a command before each of their tools. */
export type { Agent, HookGroups, UserHome } from './agent.ts';
export { agents } from './agents.ts';
export { decide, faultText, type HookWorld } from './decide.ts';
export { HookFault, maxEventChars, type ReadEvent, readEvent } from './event.ts';
export type { Place } from './place.ts';
export { fileQuotas, spentBefore } from './state/file-quotas.ts';
export { inTurn } from './state/locked.ts';
export { requireRegularFile } from './state/regular-file.ts';
export { sessionFile } from './state/session-file.ts';
export { cacheFolder, forgetOld, nameFor, stateFolder } from './state/state-folder.ts';
