/** The tools that Claude Code 2.1 brings along. */
import type { ToolRow } from '../agent-tools.ts';

const readOnly = { readOnly: true } as const;
const destructive = { destructive: true } as const;

const file = { required: ['file_path'], paths: ['file_path'] } as const;

export const claudeCodeTools: readonly ToolRow[] = [
  {
    name: 'Bash',
    description: 'Runs a command line.',
    annotations: { destructive: true, openWorld: true },
    required: ['command'],
    shell: 'command',
    content: ['command', 'description'],
  },
  {
    name: 'BashOutput',
    description: 'Reads from a command.',
    annotations: readOnly,
    origin: 'untrusted',
  },
  {
    name: 'TaskOutput',
    description: 'Reads from a task.',
    annotations: readOnly,
    origin: 'untrusted',
  },
  { name: 'KillShell', description: 'Ends a command.' },
  { name: 'KillBash', description: 'Ends a command.' },
  { name: 'TaskStop', description: 'Ends a task.' },
  { name: 'Read', description: 'Reads a file.', annotations: readOnly, ...file },
  {
    name: 'Write',
    description: 'Writes a file.',
    annotations: destructive,
    ...file,
    content: ['content'],
  },
  {
    name: 'Edit',
    description: 'Replaces text in a file.',
    annotations: destructive,
    ...file,
    content: ['old_string', 'new_string'],
  },
  {
    name: 'MultiEdit',
    description: 'Replaces texts in a file.',
    annotations: destructive,
    ...file,
  },
  {
    name: 'NotebookEdit',
    description: 'Changes a cell of a notebook.',
    annotations: destructive,
    required: ['notebook_path'],
    paths: ['notebook_path'],
    content: ['new_source'],
  },
  {
    name: 'Glob',
    description: 'Lists files.',
    annotations: readOnly,
    required: ['pattern'],
    paths: ['path'],
    content: ['pattern'],
  },
  {
    name: 'Grep',
    description: 'Searches in files.',
    annotations: readOnly,
    required: ['pattern'],
    paths: ['path'],
    content: ['pattern', 'glob'],
  },
  { name: 'LS', description: 'Lists a folder.', annotations: readOnly, paths: ['path'] },
  {
    name: 'WebFetch',
    description: 'Reads a web page.',
    annotations: { readOnly: true, openWorld: true },
    required: ['url'],
    url: 'url',
    content: ['prompt'],
  },
  {
    name: 'WebSearch',
    description: 'Searches the web.',
    annotations: { readOnly: true, openWorld: true },
    required: ['query'],
    content: ['query'],
  },
  { name: 'Task', description: 'Starts another agent.', content: ['description', 'prompt'] },
  { name: 'Agent', description: 'Starts another agent.', content: ['description', 'prompt'] },
  { name: 'TodoWrite', description: 'Keeps a list of what is to be done.' },
  { name: 'TaskCreate', description: 'Adds to the list of what is to be done.' },
  { name: 'TaskUpdate', description: 'Changes the list of what is to be done.' },
  { name: 'TaskGet', description: 'Reads the list of what is to be done.', annotations: readOnly },
  { name: 'TaskList', description: 'Reads the list of what is to be done.', annotations: readOnly },
  { name: 'AskUserQuestion', description: 'Asks the user.' },
  { name: 'EnterPlanMode', description: 'Begins to plan.' },
  { name: 'ExitPlanMode', description: 'Shows the plan to the user.' },
  { name: 'Skill', description: 'Reads a skill.' },
  { name: 'SlashCommand', description: 'Runs a command of the agent.' },
  { name: 'ToolSearch', description: 'Looks for tools.', annotations: readOnly },
];
