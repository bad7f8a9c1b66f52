/** Gates for coding agents that run a command before each of their tools. */
import type { Agent } from './agent.ts';
import { claudeCode } from './claude-code/claude-code.ts';
import { codex } from './codex/codex.ts';
import { copilotCli } from './copilot-cli/copilot-cli.ts';
import { cursor } from './cursor/cursor.ts';
import { geminiCli } from './gemini-cli/gemini-cli.ts';
import { opencode } from './opencode/opencode.ts';
import { qwenCode } from './qwen-code/qwen-code.ts';

/** Gates for coding agents that run a command before each of their tools. */
export type { Agent, HookGroups, UserHome } from './agent.ts';
export { decide, faultText, type HookWorld } from './decide.ts';
export { HookFault, maxEventChars, type ReadEvent, readEvent } from './event.ts';
export type { Place } from './place.ts';
export { fileQuotas, spentBefore } from './state/file-quotas.ts';
export { inTurn, requireRegularFile } from './state/locked-file.ts';
export { sessionFile } from './state/session-file.ts';
export { cacheFolder, forgetOld, nameFor, stateFolder } from './state/state-folder.ts';

/** By the word that names them on the command line. */
export const agents: ReadonlyMap<string, Agent> = new Map(
  [claudeCode, codex, copilotCli, cursor, geminiCli, opencode, qwenCode].map((agent) => [
    agent.name,
    agent,
  ]),
);
