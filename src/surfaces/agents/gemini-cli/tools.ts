/** The tools of Gemini CLI 0.61.0, as it offers them to its model, and some of earlier versions. */
import type { ToolRow } from '../agent-tools.ts';

const readOnly = { readOnly: true } as const;
const destructive = { destructive: true } as const;
const file = { required: ['file_path'], paths: ['file_path'] } as const;

export const geminiCliTools: readonly ToolRow[] = [
  {
    name: 'run_shell_command',
    description: 'Runs a command line.',
    annotations: { destructive: true, openWorld: true },
    required: ['command'],
    shell: 'command',
    folder: 'dir_path',
    content: ['command', 'description'],
  },
  {
    name: 'list_background_processes',
    description: 'Lists commands that go on running.',
    annotations: readOnly,
    origin: 'untrusted',
  },
  {
    name: 'read_background_output',
    description: 'Reads from a command that goes on running.',
    annotations: readOnly,
    origin: 'untrusted',
  },
  { name: 'read_file', description: 'Reads a file.', annotations: readOnly, ...file },
  { name: 'read_many_files', description: 'Reads files.', annotations: readOnly },
  {
    name: 'write_file',
    description: 'Writes a file.',
    annotations: destructive,
    ...file,
    content: ['content'],
  },
  {
    name: 'replace',
    description: 'Replaces text in a file.',
    annotations: destructive,
    ...file,
    content: ['instruction', 'old_string', 'new_string'],
  },
  {
    name: 'list_directory',
    description: 'Lists a folder.',
    annotations: readOnly,
    paths: ['dir_path'],
  },
  {
    name: 'glob',
    description: 'Lists files.',
    annotations: readOnly,
    paths: ['dir_path'],
    content: ['pattern'],
  },
  {
    name: 'grep_search',
    description: 'Searches in files.',
    annotations: readOnly,
    paths: ['dir_path', 'include_pattern'],
    content: ['pattern'],
  },
  {
    name: 'search_file_content',
    description: 'Searches in files.',
    annotations: readOnly,
    paths: ['dir_path', 'include'],
    content: ['pattern'],
  },
  {
    name: 'web_fetch',
    description: 'Reads web pages.',
    annotations: { readOnly: true, openWorld: true },
    required: ['prompt'],
    addresses: 'prompt',
    content: ['prompt'],
  },
  {
    name: 'google_web_search',
    description: 'Searches the web.',
    annotations: { readOnly: true, openWorld: true },
    content: ['query'],
  },
  { name: 'save_memory', description: 'Remembers a fact.', content: ['fact'] },
  { name: 'write_todos', description: 'Keeps a list of tasks.' },
  { name: 'ask_user', description: 'Asks the user.' },
  { name: 'update_topic', description: 'Tells the user what it works on.' },
  // What another agent reports may repeat what it has read.
  {
    name: 'invoke_agent',
    description: 'Starts another agent.',
    origin: 'untrusted',
    content: ['prompt'],
  },
  { name: 'complete_task', description: 'Ends the work of another agent.' },
  { name: 'activate_skill', description: 'Reads a skill.', origin: 'untrusted' },
  { name: 'enter_plan_mode', description: 'Begins to plan.' },
  { name: 'exit_plan_mode', description: 'Shows the plan to the user.' },
  {
    name: 'list_mcp_resources',
    description: 'Lists what MCP servers offer.',
    annotations: { readOnly: true, openWorld: true },
  },
  {
    name: 'read_mcp_resource',
    description: 'Reads a resource of an MCP server.',
    annotations: { readOnly: true, openWorld: true },
    required: ['uri'],
  },
  { name: 'get_internal_docs', description: "Reads the CLI's own pages.", annotations: readOnly },
];
