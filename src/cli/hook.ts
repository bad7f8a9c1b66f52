/** `hook`: judges a call of a coding agent. The process of the hook is in `hook-process.ts`. */
import { agentNames } from '../surfaces/agents/agent.ts';
import type { Command } from './command.ts';
import { usageFault } from './fault.ts';

export const hook: Command = {
  name: 'hook',
  usage: 'AGENT --host-tools FILE [--timeout-ms N] [--audit FILE]',
  summary: "judge a call of a coding agent: reads one event, answers in the agent's format",
  notes: [
    `AGENT is one of ${agentNames.join(', ')}. The agent runs the command before each of its ` +
      'tools.',
    'The exit code is 0 with an answer, or 2 with a reason, which blocks the call.',
  ],
  options: ['host-tools', 'timeout-ms', 'audit'],
  wording: {
    'timeout-ms': {
      value: 'N',
      help: 'answer within N milliseconds, or block the call; default 50000',
    },
  },
  operands: ['AGENT'],
  run() {
    // Only a process that does nothing else can guarantee its exit code.
    throw usageFault('Write `hook` first: `host-tools hook AGENT --host-tools FILE`.');
  },
};
