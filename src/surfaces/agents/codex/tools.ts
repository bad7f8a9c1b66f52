/**
 * The tools of Codex 0.171.0, by the names that its events give them: the model's `exec_command` is
 * `Bash` there. What the model writes to a running program (`write_stdin`) has no event.
 */
import type { ToolRow } from '../agent-tools.ts';

const readOnly = { readOnly: true } as const;

export const codexTools: readonly ToolRow[] = [
  {
    name: 'Bash',
    description: 'Runs a command line.',
    annotations: { destructive: true, openWorld: true },
    required: ['command'],
    shell: 'command',
    feeds: true,
    content: ['command'],
  },
  {
    name: 'apply_patch',
    description: 'Changes files.',
    annotations: { destructive: true },
    required: ['command'],
    patch: 'command',
    content: ['command'],
  },
  {
    name: 'view_image',
    description: 'Reads a picture.',
    annotations: readOnly,
    origin: 'untrusted',
    paths: ['path'],
  },
  { name: 'get_goal', description: 'Reads its goal.', annotations: readOnly },
  { name: 'create_goal', description: 'Sets its goal.', content: ['objective'] },
  { name: 'update_goal', description: 'Says how far its goal is reached.' },
  { name: 'update_plan', description: 'Keeps a list of tasks.' },
  { name: 'request_user_input', description: 'Asks the user.' },
  // Other agents, whose own calls are judged as well. What they report may come from anywhere.
  {
    name: 'spawn_agent',
    description: 'Starts another agent.',
    origin: 'untrusted',
    content: ['message'],
  },
  {
    name: 'send_input',
    description: 'Gives another agent a task.',
    origin: 'untrusted',
    content: ['message'],
  },
  {
    name: 'wait_agent',
    description: 'Reads what other agents report.',
    annotations: readOnly,
    origin: 'untrusted',
  },
  { name: 'resume_agent', description: 'Lets another agent go on.', origin: 'untrusted' },
  { name: 'close_agent', description: 'Ends another agent.', origin: 'untrusted' },
];
