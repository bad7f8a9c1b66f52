/**
 * The tools of Claude Code 2.1.332, as it offers them to its model. Left out are those that run
 * code or act elsewhere without a command line that could be read: `Monitor`, `REPL`, `PowerShell`,
 * `Workflow`, `CronCreate`, `RemoteTrigger`, `Artifact`, `Projects` and `ClaudeDesign`.
 */
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
    paths: ['path', 'glob'],
    content: ['pattern'],
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
  // What another agent reports may repeat what it has read.
  {
    name: 'Task',
    description: 'Starts another agent.',
    origin: 'untrusted',
    content: ['description', 'prompt'],
  },
  {
    name: 'Agent',
    description: 'Starts another agent.',
    origin: 'untrusted',
    content: ['description', 'prompt'],
  },
  {
    name: 'SendMessage',
    description: 'Writes to another agent.',
    origin: 'untrusted',
    content: ['summary', 'message'],
  },
  {
    name: 'ListAgents',
    description: 'Lists other agents.',
    annotations: readOnly,
    origin: 'untrusted',
  },
  { name: 'TodoWrite', description: 'Keeps a list of tasks.' },
  { name: 'TaskCreate', description: 'Adds to the list of tasks.' },
  { name: 'TaskUpdate', description: 'Changes the list of tasks.' },
  { name: 'TaskGet', description: 'Reads the list of tasks.', annotations: readOnly },
  { name: 'TaskList', description: 'Reads the list of tasks.', annotations: readOnly },
  {
    name: 'EnterWorktree',
    description: 'Goes on in another worktree of the repository.',
    paths: ['path'],
  },
  {
    name: 'ExitWorktree',
    description: 'Goes back from a worktree, and may remove it.',
    annotations: destructive,
    required: ['action'],
  },
  { name: 'AskUserQuestion', description: 'Asks the user.' },
  { name: 'EnterPlanMode', description: 'Begins to plan.' },
  { name: 'ExitPlanMode', description: 'Shows the plan to the user.' },
  { name: 'Skill', description: 'Reads a skill.', origin: 'untrusted' },
  { name: 'SlashCommand', description: 'Runs a command of the agent.' },
  {
    name: 'ListMcpResourcesTool',
    description: 'Lists what MCP servers offer.',
    annotations: { readOnly: true, openWorld: true },
  },
  {
    name: 'ReadMcpResourceTool',
    description: 'Reads a resource of an MCP server.',
    annotations: { readOnly: true, openWorld: true },
    required: ['server', 'uri'],
  },
  {
    name: 'ReadMcpResourceDirTool',
    description: 'Lists resources of an MCP server.',
    annotations: { readOnly: true, openWorld: true },
    required: ['server', 'uri'],
  },
  {
    name: 'ReadNotifications',
    description: 'Reads notifications.',
    annotations: readOnly,
    origin: 'untrusted',
  },
  {
    name: 'PushNotification',
    description: 'Tells the user something.',
    content: ['message'],
  },
  { name: 'ReportFindings', description: 'Shows the findings of a review.' },
  { name: 'CronList', description: 'Lists scheduled tasks.', annotations: readOnly },
  {
    name: 'ScheduleWakeup',
    description: 'Goes on later.',
    content: ['prompt', 'reason'],
  },
  // It quotes the descriptions that MCP servers have written.
  {
    name: 'ToolSearch',
    description: 'Looks for tools.',
    annotations: readOnly,
    origin: 'untrusted',
  },
];
