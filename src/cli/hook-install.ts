/** `hook install`: prints what to add to an agent's settings. It changes nothing itself. */
import { agentNames } from '../surfaces/agents/agent-names.ts';
import type { Command } from './command.ts';
import { usageFault } from './fault.ts';
import { meant } from './options.ts';

export const hookInstall: Command = {
  name: 'hook install',
  usage: 'AGENT',
  summary: "print the settings that put `hook` before a coding agent's tools",
  notes: ['It does not change any file.'],
  options: [],
  operands: ['AGENT'],
  async run({ operands: [name = ''] }) {
    // Loaded here, because no other command needs the definitions of the agents' tools.
    const { agents } = await import('../surfaces/agents/hooks.ts');
    const agent = agents.get(name);
    if (agent === undefined)
      throw usageFault(
        `Unknown agent \`${name}\`. ${meant(name, agentNames)}Agents are ${agentNames.join(', ')}.`,
      );
    // The agent may be in another folder when it runs the hook.
    const root =
      agent.projectVariable === undefined
        ? '"$(git rev-parse --show-toplevel)"'
        : `"$${agent.projectVariable}"`;
    const folder = agent.settings('').file.split('/')[0] ?? '';
    const rules = `${folder}/host-tools.yaml`;
    const command =
      `${root}/node_modules/.bin/host-tools hook ${agent.name} --host-tools ` +
      // Agents take every exit code but 2 for "go on", also that of a hook which cannot be started.
      `${root}/${rules} || exit 2`;
    const { file, text } = agent.settings(command);
    const copy = `cp node_modules/host-tools/rules/claude-code.yaml ${rules}`;
    const isStarter = agent.name === 'claude-code';
    const lines = [
      '1. Install what the hook needs:',
      '     npm install --save-dev host-tools yaml unbash',
      isStarter ? '2. Copy the starter rules, and change them:' : `2. Write the rules: ${rules}`,
      ...(isStarter ? [`     mkdir -p ${folder} && ${copy}`] : []),
      `3. Add this to ${file}:`,
      ...text.split('\n').map((line) => `     ${line}`),
      '4. Try that a call is denied. A hook that cannot be started may let calls run.',
    ];
    return {
      exit: 0,
      text: lines.join('\n'),
      json: { agent: agent.name, rules, file, settings: JSON.parse(text) as unknown },
    };
  },
};
