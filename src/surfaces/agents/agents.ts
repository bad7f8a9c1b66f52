/** The coding agents that are known. */
import type { Agent } from './agent.ts';
import { claudeCode } from './claude-code/claude-code.ts';
import { codex } from './codex/codex.ts';
import { geminiCli } from './gemini-cli/gemini-cli.ts';

/** By the word that names them on the command line. */
export const agents: ReadonlyMap<string, Agent> = new Map(
  [claudeCode, codex, geminiCli].map((agent) => [agent.name, agent]),
);
