/** The agent of a command line, and the line by which it starts the hook of a guard. */
import { join } from 'node:path';
import { agentNames } from '../../surfaces/agents/agent-names.ts';
import type { Agent, UserHome } from '../../surfaces/agents/hooks.ts';
import { usageFault } from '../fault.ts';
import { meant } from '../options.ts';
import { guardFiles, guardFolder } from './guard-folder.ts';

/** @throws CliFault 2 */
export async function agentNamed(name: string): Promise<Agent> {
  // Loaded here, because no other command needs the definitions of the agents' tools.
  const { agents } = await import('../../surfaces/agents/hooks.ts');
  const agent = agents.get(name);
  if (agent !== undefined) return agent;
  throw usageFault(
    `Unknown agent \`${name}\`. ${meant(name, agentNames)}Agents are ${agentNames.join(', ')}.`,
  );
}

/**
 * The line by which an agent starts the hook of a guard. It does not depend on the rules, so that
 * Codex need not trust it again after each edit. The path below the home is written with `$HOME`: a
 * file of settings may be shared between computers.
 */
export function guardCommand({ name }: Agent, user: UserHome): string {
  const program = join(guardFolder(name, user), guardFiles.launcher);
  const path = program.startsWith(join(user.home, '.config/'))
    ? `"$HOME${quotable(program.slice(user.home.length))}"`
    : `"${quotable(program)}"`;
  // Agents take every exit code but 2 for "go on".
  return `${path} || exit 2`;
}

/** What starts the hook. With Node named here, the agent's settings outlive an update of Node. */
export function launcher(): string {
  const { hook } = guardFiles;
  const missing = 'host-tools: the guard has no hook.cjs: run `npx host-tools hook install` again.';
  return [
    '#!/bin/sh',
    '# Installed by `npx host-tools hook install`.',
    `[ -f "\${0%/*}/${hook}" ] || { echo '${missing} The call is blocked.' >&2; exit 2; }`,
    `exec "${quotable(process.execPath)}" "\${0%/*}/${hook}"`,
    '',
  ].join('\n');
}

/** Text between double quotes in a shell. */
function quotable(text: string): string {
  return text.replace(/["$`\\]/g, '\\$&');
}
